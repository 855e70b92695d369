import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GeneratedFile } from './generated-file.ts'

const packages = join(import.meta.dirname, '../../node_modules')

/** A module that the console loads: its file in a package, and the package whose types it has. */
interface Vendored {
  readonly name: string
  readonly file: string
  readonly types: string
}

const modules: readonly Vendored[] = [
  { name: 'preact', file: 'preact/dist/preact.module.js', types: 'preact' },
  { name: 'hooks', file: 'preact/hooks/dist/hooks.module.js', types: 'preact/hooks' },
  { name: 'htm', file: 'htm/dist/htm.module.js', types: 'htm' },
]

/** What the console loads of others, with imports that a browser can follow (specs/decisions/0179-view-library.md). */
export const vendoredFiles = (): readonly GeneratedFile[] =>
  modules.flatMap(({ name, file, types }) => [
    { path: `console/vendor/${name}.js`, text: browserText(readFileSync(join(packages, file), 'utf8')) },
    { path: `console/vendor/${name}.d.ts`, text: typesText(name, types) },
  ])

const browserText = (text: string): string =>
  `${text
    .replaceAll(/\/\/# sourceMappingURL=.*$/gm, '')
    .replaceAll(/\bfrom\s*(["'])preact\1/g, 'from"./preact.js"')
    .trim()}\n`

/** htm's own types give any template several roots, which none of ours has. */
const htmTypes = `import type { h, VNode } from 'preact'
declare const htm: { bind(make: typeof h): (strings: TemplateStringsArray, ...values: readonly unknown[]) => VNode }
export default htm
`

const typesText = (name: string, types: string): string => (name === 'htm' ? htmTypes : `export * from '${types}'\n`)
