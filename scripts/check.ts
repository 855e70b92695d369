import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { readCommandLine } from '#src/start/command-line.ts'
import { climbingImportFindings } from './check/climbing-imports.ts'
import { componentFindings, componentGraph, drawn } from './check/components.ts'
import { decisionFindings, decisionPages } from './check/decision-pages.ts'
import { docstringFindings } from './check/docstrings.ts'
import { duplicateFindings } from './check/duplicates.ts'
import { fileLengthFindings } from './check/file-length.ts'
import { folderReadmeFindings, folderReadmePaths, folderReadmes, pictureFindings } from './check/folder-readmes.ts'
import { folderSizeFindings } from './check/folder-size.ts'
import { frontDoorFindings } from './check/front-doors.ts'
import { harmlessPairs } from './check/kills/harmless-pairs.ts'
import { writePairFindings } from './check/kills/write-pairs.ts'
import { layerFindings } from './check/layers.ts'
import { namedPathFindings } from './check/named-paths.ts'
import { namingFindings } from './check/naming.ts'
import { binaryFindings, modelRuntime, nativeServer } from './check/native-binary.ts'
import { regExpFindings } from './check/regexps.ts'
import { type Finding, readFiles } from './check/source-files.ts'
import { citationFindings, emptyCommentFindings, nameWordFindings, privateWordFindings } from './check/word-list.ts'

/**
 * `npm run check`: every rule of the project that can be checked automatically. All steps run even if one fails; exit
 * code 1 if any did. Rules for the linter are in biome.json and scripts/check/lint; each rule has a test that it
 * detects violations (test/scripts/check).
 */
const { quick = false } = readCommandLine({
  usage: [
    'usage: npm run check [-- --quick]',
    '',
    'Runs all automatic checks. Exits with 1 if one fails.',
    '--quick leaves out generated files, the types of the console and attacked patterns, which take most of the time.',
  ].join('\n'),
  options: { quick: { type: 'boolean' } },
})
const root = resolve(import.meta.dirname, '..')
const code = readFiles(root, ['specs', 'src', 'test', 'scripts', 'bench'], ['.ts'])
const product = readFiles(root, ['specs', 'src'], ['.ts'])
const pages = readFiles(root, ['specs/decisions'], ['.md'])
const walkthroughs = readFiles(root, ['docs'], ['.md'])
const frontPages = ['README.md', 'AGENTS.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md']
  .filter((path) => existsSync(resolve(root, path)))
  .map((path) => ({ path, text: readFileSync(resolve(root, path), 'utf8') }))

/** Detection patterns quote the words that they search for. */
const patterns = [
  'src/skill-scan/rules/',
  'src/skill-scan/meaning/',
  'src/skill-scan/speech.ts',
  'src/facts/screen/instructions/',
  'src/facts/updates/cues.ts',
  'src/facts/rules/lasting.ts',
]

const readmes = folderReadmes(root)

const quoting = new Set(['test/scripts/check/word-list.test.ts'])

/** Published texts, which the rules for words and paths read. */
const worded = [
  ...product.filter(({ path }) => !patterns.some((start) => path.startsWith(start))),
  ...pages,
  ...walkthroughs.filter(({ path }) => path !== 'docs/README.md'),
  ...frontPages,
  ...readmes,
]
/** Scripts, measurements, tests and the console, except the word list itself and the test that quotes it. */
const beside = [
  ...readFiles(root, ['scripts', 'bench', 'test'], ['.ts']),
  ...readFiles(root, ['console'], ['.ts']),
].filter(({ path }) => path !== 'scripts/check/word-list.ts' && !quoting.has(path))
/** Files that the rules for citations and empty comments read, except the test that quotes violations. */
const cited = [...worded, ...code.filter(({ path }) => /^(test|scripts|bench)\//.test(path) && !quoting.has(path))]
const components = componentGraph(product)
const isLinuxX64 = process.platform === 'linux' && process.arch === 'x64'

/** Runs one of the project's own tools; null when it succeeds, otherwise its output. */
async function tool(script: string, ...args: readonly string[]): Promise<string | null> {
  const run = spawn(process.execPath, [script, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((done) => run.once('close', done))
  const printed = await Promise.all([text(run.stdout), text(run.stderr)])
  return (await ended) === 0 ? null : printed.join('').trim()
}

const listed = (findings: readonly Finding[]): string | null =>
  findings.length === 0 ? null : findings.map(({ path, line, message }) => `${path}:${line} ${message}`).join('\n')

type Step = () => Promise<string | null> | string | null

/** Loads sources from the caches that this process uses too. */
const sources = ['--import', './src/start/kept-sources.js'] as const

/** Tools that run as separate processes, concurrently with each other and with the rules. */
const tools: Readonly<Record<string, Step>> = {
  types: () => tool('node_modules/typescript/bin/tsc', '-p', '.'),
  'types of the console': () => tool('node_modules/typescript/bin/tsc', '-p', 'tsconfig.console.json'),
  'lint and format': () => tool('node_modules/@biomejs/biome/bin/biome', 'check', '--diagnostic-level=error', '.'),
  'unused code': () => tool('node_modules/knip/bin/knip.js', '--config', 'scripts/check/knip.jsonc', '--no-progress'),
  'generated files': () => tool(...sources, 'scripts/generate.ts', '--check'),
}

const rules: Readonly<Record<string, Step>> = {
  layers: () => listed(layerFindings(product)),
  components: () => listed(componentFindings(components)),
  'front doors': () => listed(frontDoorFindings(product)),
  'climbing imports': () => listed(climbingImportFindings(code)),
  'sizes of folders': () => listed(folderSizeFindings(code)),
  'lengths of files': () => listed(fileLengthFindings(code)),
  names: () => listed(namingFindings(code)),
  docstrings: () => listed(docstringFindings(product)),
  words: () =>
    listed([
      ...[...worded, ...beside].flatMap(privateWordFindings),
      ...[...product, ...readFiles(root, ['packages'], ['.ts']), ...beside].flatMap(nameWordFindings),
    ]),
  citations: () => listed(cited.flatMap(citationFindings)),
  'empty comments': () => listed(cited.flatMap(emptyCommentFindings)),
  'named paths': () => listed(namedPathFindings(root, worded)),
  'attacked patterns': () => listed(regExpFindings(readFiles(root, ['src'], ['.ts']))),
  decisions: () => listed(decisionFindings(decisionPages(pages), worded)),
  'pages of folders': () =>
    listed([
      ...folderReadmeFindings(folderReadmePaths(root), readmes, product),
      ...pictureFindings(root, frontPages.find(({ path }) => path === 'ARCHITECTURE.md')?.text ?? ''),
    ]),
  duplicates: () => listed(duplicateFindings(product)),
  'writes that a kill cuts': () =>
    listed(writePairFindings(readFiles(root, ['src/actors', 'src/gateway'], ['.ts']), harmlessPairs)),
  'native binaries': () =>
    [nativeServer, ...(isLinuxX64 ? [modelRuntime] : [])]
      .flatMap((recorded) => binaryFindings(resolve(root, 'node_modules'), recorded))
      .join('\n') || null,
}

console.log(`Components, each with those that it imports:\n${drawn(components).join('\n')}\n`)

const slow = ['types of the console', 'generated files', 'attacked patterns']
const isWanted = ([name]: readonly [name: string, step: Step]): boolean => !quick || !slow.includes(name)

const outcomes = Object.entries(tools).filter(isWanted).map(failureOf)
for (const rule of Object.entries(rules).filter(isWanted)) outcomes.push(Promise.resolve(await failureOf(rule)))
const failed = (await Promise.all(outcomes)).filter((name) => name !== null)
console.log(
  failed.length === 0
    ? 'All checks passed'
    : `${failed.length} of ${outcomes.length} checks failed: ${failed.join(', ')}`,
)
process.exitCode = failed.length === 0 ? 0 : 1

/** Runs a step and prints its result. @returns its name if it failed; null if it holds. */
async function failureOf([name, step]: readonly [name: string, step: Step]): Promise<string | null> {
  const startedAt = performance.now()
  const trouble = await step()
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`${trouble === null ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`)
  if (trouble !== null) console.log(trouble.replaceAll(/^/gm, '       '))
  return trouble === null ? null : name
}
