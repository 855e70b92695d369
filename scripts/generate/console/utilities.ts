import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compile } from 'tailwindcss'
import type { GeneratedFile } from '../generated-file.ts'

/** Folders whose templates name utility classes. */
const folders = ['console', 'src/transport/docs']

/** Lengths are in px, and colours are those of `base.css`, in both themes. */
const scale = [
  '--spacing: 1px; --breakpoint-phone: 721px; --breakpoint-tablet: 861px; --breakpoint-wide: 900px;',
  '--font-weight-normal: 400; --font-weight-semibold: 600; --font-mono: var(--mono); --radius-card: var(--radius);',
  ...[11, 12, 13, 15, 16].map((px) => `--text-${px}: ${px}px;`),
  ...[4, 6, 7, 8, 16].map((px) => `--radius-${px}: ${px}px;`),
]

/** The utility classes that templates name, as Tailwind defines them (specs/decisions/0180-console.md). */
export const utilityClasses = async (root: string): Promise<GeneratedFile> => {
  const base = readFileSync(join(root, 'console/base.css'), 'utf8')
  const names = new Set([...base.matchAll(/^ {2}--([a-z-]+): light-dark/gm)].map(([, name]) => name))
  const colors = [...names].map((name) => `--color-${name}: var(--${name});`)
  const { build } = await compile(`@theme inline { ${[...scale, ...colors].join(' ')} } @tailwind utilities;`)
  const text = build(classesIn(folders.flatMap((each) => textsOf(root, each))))
  return { path: 'console/vendor/utilities.css', text: text.replace(/^.*\n/, '') }
}

const textsOf = (root: string, folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(js|ts|html)$/.test(file) && !file.startsWith('vendor'))
    .sort()
    .map((file) => readFileSync(join(root, folder, file), 'utf8'))

/** The words of all `class` attributes, with those of conditions in them. */
const classesIn = (texts: readonly string[]): string[] =>
  texts.flatMap((text) =>
    [...text.matchAll(/\bclass(?:Name)?(?:=|:\s+)("[^"]*"|'[^']*'|\$\{[^}]*\})/g)].flatMap(([, value = '']) =>
      value.split(/[\s"'`{}$]+/),
    ),
  )
