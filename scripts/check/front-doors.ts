import { importsOf } from './imports.ts'
import type { Finding, SourceFile } from './source-files.ts'

/**
 * Parts of the product that can be used without the rest, each with the entries by which all other code imports it. The
 * engine imports no file of the project but its own, so that it can be published as packages
 * (specs/decisions/0323-engine-as-a-package.md).
 */
interface Part {
  readonly name: string
  readonly holds: RegExp
  readonly entries: RegExp
  readonly closed: boolean
}

const parts: readonly Part[] = [
  {
    name: 'the engine',
    holds:
      /^src\/(actors\/runtime\/|storage\/|machines\/(index|definition|definition-of|event-actions|json|list-row|pending|refusal|state-value|status|vocabulary)\.ts$)/,
    entries:
      /^src\/(actors\/runtime\/(index|internal)|storage\/index|storage\/(mongo|sqlite|redis|lance)\/open-\w+(-storage)?|storage\/sqlite\/store-claim|machines\/index)\.ts$/,
    closed: true,
  },
  ...['facts', 'retrieval', 'skill-scan'].map((name) => ({
    name: `src/${name}`,
    holds: new RegExp(`^src/${name}/`),
    entries: new RegExp(`^src/${name}/index\\.ts$`),
    closed: false,
  })),
]

/** Finds imports that enter a part other than by its entries, and imports by which the engine leaves itself. */
export const frontDoorFindings = (files: readonly SourceFile[]): readonly Finding[] =>
  files.flatMap((file) =>
    importsOf(file).flatMap(({ target, line }) =>
      parts.flatMap((part) => {
        const message = broken(part, file.path, target)
        return message === null ? [] : [{ path: file.path, line, message }]
      }),
    ),
  )

const broken = ({ name, holds, entries, closed }: Part, from: string, target: string): string | null => {
  const isInside = holds.test(from)
  if (isInside && closed && isOfProject(target) && !holds.test(target)) return `${name} may not import ${target}`
  if (isInside || !holds.test(target) || entries.test(target)) return null
  return `imports ${name} beside its entries: ${target}`
}

const isOfProject = (target: string): boolean => /^(src|specs|scripts|bench|test|console|packages)\//.test(target)
