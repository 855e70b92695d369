import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import type { GeneratedFile } from './generated-file.ts'

const packages = join(import.meta.dirname, '../../node_modules')

/** A module that the console loads: its file in a package, and the package that has its types. */
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

/**
 * Third-party modules that the console loads, with imports that a browser can resolve
 * (specs/decisions/0180-console.md).
 */
export const vendoredFiles = async (): Promise<readonly GeneratedFile[]> => [
  ...(await bundledFiles('store', '@xstate/store', 'createStore')),
  ...(await bundledFiles('eventsource-parser', 'eventsource-parser/stream', 'EventSourceParserStream')),
  ...copies(),
]

const copies = (): readonly GeneratedFile[] =>
  modules.flatMap(({ name, file, types }) => [
    { path: `console/vendor/${name}.js`, text: browserText(readFileSync(join(packages, file), 'utf8')) },
    { path: `console/vendor/${name}.d.ts`, text: typesText(name, types) },
  ])

/** One export of a package, without its other parts. */
const bundledFiles = async (name: string, from: string, part: string): Promise<readonly GeneratedFile[]> => {
  const entry = 'vendored-entry'
  const bundle = await rolldown({
    input: entry,
    plugins: [
      {
        name: entry,
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? `export { ${part} } from '${from}'` : null),
      },
    ],
  })
  const { output } = await bundle.generate({ format: 'es', minify: true })
  await bundle.close()
  return [
    { path: `console/vendor/${name}.js`, text: `${output[0].code.trim()}\n` },
    { path: `console/vendor/${name}.d.ts`, text: `export * from '${from}'\n` },
  ]
}

const browserText = (text: string): string =>
  `${text
    .replaceAll(/\/\/# sourceMappingURL=.*$/gm, '')
    .replaceAll(/\bfrom\s*(["'])preact\1/g, 'from"./preact.js"')
    .trim()}\n`

/** htm's own types allow several roots in any template; ours have one each. */
const htmTypes = `import type { Attributes, ComponentChildren, ComponentType, VNode } from 'preact'
type Make = (type: ComponentType | string, props: Attributes | null, ...children: ComponentChildren[]) => VNode
declare const htm: { bind(make: Make): (strings: TemplateStringsArray, ...values: readonly unknown[]) => VNode }
export default htm
`

const typesText = (name: string, types: string): string => (name === 'htm' ? htmTypes : `export * from '${types}'\n`)
