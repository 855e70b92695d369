import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')
const folder = mkdtempSync(join(tmpdir(), 'troupe-lint-'))

afterAll(() => rmSync(folder, { recursive: true }))

/** A source text and the path of its file. */
interface Sample {
  readonly what: string
  readonly path: string
  readonly text: string
}

/** Samples with unique file names in the folders that rules depend on: `a` gets a number. */
const samplesOf = (from: number, all: readonly (readonly [what: string, path: string, text: string])[]) =>
  all.map(([what, path, text], at): Sample => ({ what, path: path.replace(/\/a\./, `/a${from + at}.`), text }))

const longFunction = `export function long() {\n${'  process.stdout.write("")\n'.repeat(51)}}\n`
const fourParameters = 'export const a = (b, c, d, e) => [b, c, d, e]\n'

const refused = samplesOf(0, [
  ['a cast', 'src/a.ts', 'export const a = JSON.parse("1") as number\n'],
  ['a cast in angle brackets', 'src/a.ts', 'export const a = <number>JSON.parse("1")\n'],
  ['a double cast inside a template', 'src/a.ts', `export const a = \`\${process.pid as unknown as string}\`\n`],
  ['the clock in a machine', 'src/machines/a.ts', 'export const a = () => Date.now()\n'],
  ['a new date in a machine', 'src/machines/a.ts', 'export const a = () => new Date()\n'],
  ['chance in a machine', 'src/machines/a.ts', 'export const a = () => Math.random()\n'],
  ['a timer in a machine', 'src/machines/a.ts', 'export const a = () => setTimeout(() => {}, 5)\n'],
  ['an invoke in a machine', 'src/machines/a.ts', 'export const a = { states: { b: { invoke: { src: "c" } } } }\n'],
  [
    'a promise actor',
    'src/machines/a.ts',
    'import { fromPromise } from "xstate"\nexport const a = fromPromise(() => 1)\n',
  ],
  ['a spawn in assign', 'src/machines/a.ts', 'export const a = ({ spawn }) => spawn("b")\n'],
  [
    'sendParent',
    'src/machines/a.ts',
    'import { sendParent } from "xstate"\nexport const a = sendParent({ type: "b" })\n',
  ],
  [
    'an error that loses its cause',
    'src/a.ts',
    'export const a = (f) => {\n  try {\n    f()\n  } catch {\n    throw new ServiceError("not_found")\n  }\n}\n',
  ],
  ['the wrong check of a URL', 'src/a.ts', 'export const a = (b) => URL.canParse(b)\n'],
  ['a getter in an object literal', 'src/a.ts', 'export const a = (b) => ({ get c() { return b } })\n'],
  ['a setter in an object literal', 'src/a.ts', 'export const a = (b) => ({ set c(d) { b(d) } })\n'],
  ['a sleep in a test', 'test/a.test.ts', 'export const a = new Promise((done) => setTimeout(done, 50))\n'],
  ['a sleep by arrow', 'test/a.test.ts', 'export const a = new Promise((done) => setTimeout(() => done(), 50))\n'],
  ['the promised timer', 'test/a.test.ts', 'import { setTimeout } from "node:timers/promises"\nawait setTimeout(5)\n'],
  ['a title with should', 'test/a.test.ts', 'import { it } from "vitest"\nit("should work", () => {})\n'],
  [
    'a table title with should',
    'test/a.test.ts',
    'import { it } from "vitest"\nit.each([1])("It Should %s", () => {})\n',
  ],
])

/** By the name of the rule. */
const enforced = samplesOf(100, [
  ['noExcessiveLinesPerFunction', 'src/a.ts', longFunction],
  ['useMaxParams', 'src/a.ts', fourParameters],
  ['useMaxParams', 'specs/a.ts', fourParameters],
  ['noExcessiveLinesPerFile', 'src/a.ts', 'process.stdout.write("")\n'.repeat(401)],
  ['useFilenamingConvention', 'src/camelCase.ts', 'export const a = 1\n'],
  ['noDefaultExport', 'src/a.ts', 'export default 1\n'],
  ['noReExportAll', 'src/a.ts', 'export * from "node:fs"\n'],
  ['noExplicitAny', 'src/a.ts', 'export const a = (b: any) => b\n'],
  ['noNonNullAssertion', 'src/a.ts', 'export const a = (b: string | null) => b!.length\n'],
  ['noEnum', 'src/a.ts', 'export enum A { B }\n'],
  ['noFloatingPromises', 'src/a.ts', 'async function a() {}\na()\n'],
  ['useImportType', 'src/a.ts', 'import { Server } from "node:http"\nexport const a = (b: Server) => b\n'],
  ['noIdenticalTestTitle', 'test/a.test.ts', 'import { it } from "vitest"\nit("a", () => {})\nit("a", () => {})\n'],
])

const allowed = samplesOf(200, [
  ['as const', 'src/a.ts', 'export const a = [1] as const\n'],
  ["XState's way to name a type", 'src/machines/a.ts', 'export const a = {} as { b: string }\n'],
  ['a cast in schema.ts', 'specs/dsl/schema.ts', 'export const a = JSON.parse("1") as number\n'],
  [
    'a deadline in a test',
    'test/a.test.ts',
    'export const a = setTimeout(() => process.exit(new Error("late").message), 5)\n',
  ],
  ['the clock outside machines', 'src/actors/a.ts', 'export const a = () => Date.now()\n'],
  ['a long suite of tests', 'test/a.test.ts', longFunction],
  ['three parameters', 'src/a.ts', 'export const a = (b, c, d) => [b, c, d]\n'],
  ['four parameters outside src and specs', 'test/a.ts', fourParameters],
])

const samples = [...refused, ...enforced, ...allowed]

/**
 * Names of the rules of biome.json that refuse a file, by its path; those in scripts/check/lint are `plugin`. One run for
 * all samples, since loading the rules takes longer than applying them.
 */
const refusals = new Map<string, string[]>()

beforeAll(() => {
  const config = readFileSync(join(root, 'biome.json'), 'utf8').replaceAll('"./scripts/', `"${root}/scripts/`)
  writeFileSync(
    join(folder, 'biome.json'),
    config.replace('"enabled": true, "clientKind"', '"enabled": false, "clientKind"'),
  )
  for (const { path, text } of samples) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const args = ['lint', '--reporter=json', '--diagnostic-level=error', '--max-diagnostics=none', '.']
  const run = spawnSync(join(root, 'node_modules/.bin/biome'), args, { cwd: folder, encoding: 'utf8' })
  const report: { diagnostics: { category: string; location: { path: string } }[] } = JSON.parse(run.stdout)
  for (const { category, location } of report.diagnostics)
    refusals.set(location.path, [...(refusals.get(location.path) ?? []), category.replace(/^lint\/\w+\//, '')])
})

describe('lint rules', () => {
  it('have a file for each sample', () => {
    expect(new Set(samples.map(({ path }) => path)).size).toBe(samples.length)
  })

  it.each(refused)('refuse $what', ({ path }) => {
    expect(refusals.get(path)).toContain('plugin')
  })

  it.each(enforced)('enforce $what ($path)', ({ what, path }) => {
    expect(refusals.get(path)).toContain(what)
  })

  it.each(allowed)('allow $what', ({ path }) => {
    expect(refusals.get(path) ?? []).toEqual([])
  })
})
