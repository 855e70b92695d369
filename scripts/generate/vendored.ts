import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { minifySync } from 'rolldown/utils'
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
  ...seriesFiles(),
]

/**
 * uPlot without what the console does not use: the parts its module offers to others (joined tables, bars, steps,
 * splines), and scales that are not linear.
 */
const seriesFiles = (): readonly GeneratedFile[] => [
  { path: 'console/vendor/uplot.js', text: minified(seriesText()) },
  { path: 'console/vendor/uplot.d.ts', text: "export { default } from 'uplot'\n" },
  { path: 'console/vendor/uplot.css', text: readFileSync(join(packages, 'uplot/dist/uPlot.min.css'), 'utf8') },
]

/** The kind of a scale compared with one that is not linear. */
const otherScale = /\b(?:\w+\.distr|distr|xScaleDistr) (?:==|>=) +(?:2|3|4|100)\b/g

/** A browser's language may be none that `Intl` accepts, and then the module would fail; the console is in English. */
const seriesText = (): string => {
  const text = readFileSync(join(packages, 'uplot/dist/uPlot.esm.js'), 'utf8')
  const [own = '', offered = ''] = text.split(/^uPlot\.assign = /m)
  const [ratio = ''] = /^uPlot\.pxRatio = .*$/m.exec(offered) ?? []
  const english = own.replace(/NumberFormat\([^)]*\)/, 'NumberFormat("en")')
  if (ratio === '' || english === own) throw new Error('uPlot has another form')
  return `${english.replaceAll(otherScale, 'false')}${ratio}\nexport { uPlot as default }\n`
}

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

const minified = (text: string): string => `${minifySync('module.js', text, { module: true }).code.trim()}\n`

const browserText = (text: string): string =>
  `${text
    .replaceAll(/\/\/# sourceMappingURL=.*$/gm, '')
    .replaceAll(/\bfrom\s*(["'])preact\1/g, 'from"./preact.js"')
    .trim()}\n`

/** htm's own types allow several roots in any template; ours have one each. */
const htmTypes = `import type { h, VNode } from 'preact'
declare const htm: { bind(make: typeof h): (strings: TemplateStringsArray, ...values: readonly unknown[]) => VNode }
export default htm
`

const typesText = (name: string, types: string): string => (name === 'htm' ? htmTypes : `export * from '${types}'\n`)
