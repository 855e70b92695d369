import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { climbingImportFindings } from './check/climbing-imports.ts'
import { docstringFindings } from './check/docstrings.ts'
import { fileLengthFindings } from './check/file-length.ts'
import { folderSizeFindings } from './check/folder-size.ts'
import { layerFindings } from './check/layers.ts'
import { namedPathFindings } from './check/named-paths.ts'
import { namingFindings } from './check/naming.ts'
import { binaryFindings, nativeServer } from './check/native-binary.ts'
import { regExpFindings } from './check/regexps.ts'
import { drawn, roomFindings, roomGraph } from './check/rooms.ts'
import { type Finding, readFiles } from './check/source-files.ts'
import { citationFindings, emptyCommentFindings, privateWordFindings } from './check/word-list.ts'

/**
 * `npm run check`: every rule of the project that a machine can see. All steps run, whatever fails; exit code 1 when any did.
 * What the linter can see is in biome.json and scripts/check/lint; each rule has a test that it bites (test/scripts/check).
 */
const root = resolve(import.meta.dirname, '..')
const code = readFiles(root, ['specs', 'src', 'test', 'scripts', 'bench'], ['.ts'])
const product = readFiles(root, ['specs', 'src'], ['.ts'])
const pages = readFiles(root, ['specs/decisions'], ['.md'])
const walkthroughs = readFiles(root, ['docs'], ['.md'])
const frontPages = ['README.md', 'AGENTS.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md']
  .filter((path) => existsSync(resolve(root, path)))
  .map((path) => ({ path, text: readFileSync(resolve(root, path), 'utf8') }))

/** Patterns quote the words that they look for. */
const patterns = 'src/skill-scan/rules/'

const quoting = new Set(['test/scripts/check/word-list.test.ts'])

/** What the rules of words read. Tests are not read: they may quote what the rules refuse. */
const worded = [...product.filter(({ path }) => !path.startsWith(patterns)), ...pages, ...walkthroughs, ...frontPages]
/** Tools and measurements: all but the list of the words itself. */
const tools = readFiles(root, ['scripts', 'bench'], ['.ts']).filter(({ path }) => path !== 'scripts/check/word-list.ts')
/** What the rules of citations and empty comments read beside: all but the test that quotes what they refuse. */
const cited = [...worded, ...code.filter(({ path }) => /^(test|scripts|bench)\//.test(path) && !quoting.has(path))]
const rooms = roomGraph(product)

/** Runs one of the project's own tools; null when it is content, else what it printed. */
function tool(script: string, ...args: readonly string[]): string | null {
  const run = spawnSync(process.execPath, [script, ...args], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 })
  return run.status === 0 ? null : `${run.stdout}${run.stderr}${run.error?.message ?? ''}`.trim()
}

const listed = (findings: readonly Finding[]): string | null =>
  findings.length === 0 ? null : findings.map(({ path, line, message }) => `${path}:${line} ${message}`).join('\n')

const steps: Readonly<Record<string, () => string | null>> = {
  types: () => tool('node_modules/typescript/bin/tsc', '-p', '.'),
  'types of the console': () => tool('node_modules/typescript/bin/tsc', '-p', 'tsconfig.console.json'),
  'lint and format': () => tool('node_modules/@biomejs/biome/bin/biome', 'check', '--diagnostic-level=error', '.'),
  layers: () => listed(layerFindings(product)),
  rooms: () => listed(roomFindings(rooms)),
  'climbing imports': () => listed(climbingImportFindings(code)),
  'sizes of folders': () => listed(folderSizeFindings(code)),
  'lengths of files': () => listed(fileLengthFindings(code)),
  names: () => listed(namingFindings(code)),
  docstrings: () => listed(docstringFindings(product)),
  words: () => listed([...worded, ...tools].flatMap(privateWordFindings)),
  citations: () => listed(cited.flatMap(citationFindings)),
  'empty comments': () => listed(cited.flatMap(emptyCommentFindings)),
  'named paths': () => listed(namedPathFindings(root, worded)),
  'attacked patterns': () => listed(regExpFindings(readFiles(root, ['src'], ['.ts']))),
  'native server': () => binaryFindings(resolve(root, 'node_modules'), nativeServer).join('\n') || null,
  'generated files': () => tool('scripts/generate.ts', '--check'),
  duplicates: () => tool('node_modules/jscpd/bin/jscpd', '--config', 'scripts/check/jscpd.json', 'src', 'specs'),
}

console.log(`Rooms, each with those that it imports:\n${drawn(rooms).join('\n')}\n`)

let failed = 0
for (const [name, step] of Object.entries(steps)) {
  const startedAt = performance.now()
  const trouble = step()
  console.log(
    `${trouble === null ? 'ok    ' : 'FAILED'} ${name} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`,
  )
  if (trouble === null) continue
  failed += 1
  console.log(trouble.replaceAll(/^/gm, '       '))
}
console.log(failed === 0 ? 'All checks passed' : `${failed} of ${Object.keys(steps).length} checks failed`)
process.exitCode = failed === 0 ? 0 : 1
