import { Script } from 'node:vm'
import { rolldown } from 'rolldown'
import { inputAt, inputsOf, untouchedOf } from './bundle.js'

/** A bundle before it is stored. */
export interface Bundled {
  /**
   * A script, in ASCII, whose value is a function of `exports`, `require`, and a function that returns the URL of a
   * path from the root.
   */
  readonly text: string
  /** For each line of the text, its source, as an index into `sources`, and the line in it. */
  readonly places: {
    readonly sources: readonly string[]
    readonly files: readonly number[]
    readonly lines: readonly number[]
  }
  /** Hash of all inputs, and their paths. */
  readonly inputs: string
  readonly paths: readonly string[]
  /** Hash of the inputs' file metadata; null when one had just been written. */
  readonly untouched: string | null
}

/**
 * Packages that stay outside the bundle: native ones, those that locate files relative to their own, and large ones
 * that are imported on demand, module by module (src/outgoing/import-in-steps.ts).
 */
const externals =
  /^(playwright|unpdf|@node-rs\/argon2|uWebSockets\.js|openai|@anthropic-ai\/sdk|@modelcontextprotocol\/client)($|\/)/

/** Inputs of a bundle besides the modules in it. */
const ownParts = [
  'package.json',
  'package-lock.json',
  'src/start/bundle.js',
  'src/start/bundled.ts',
  'src/start/make-bundle.ts',
  'src/start/warm-code.ts',
]

const before = "(function (exports, require, __urlOf) { 'use strict'; "
const after = '})'

/**
 * Bundles all modules of src/main.ts into one script.
 *
 * @throws when that fails, for example where the bundler has no build.
 */
export const bundled = async (root: string): Promise<Bundled> => {
  const inputOf = inputAt(root)
  const readAt = Date.now()
  const read = new Map(ownParts.map((path) => [path, inputOf(path)]))
  const plugin = {
    name: 'sources',
    load: (id: string) => {
      if (!id.startsWith(`${root}/`)) return null
      const path = id.slice(root.length + 1)
      // the bundle contains exactly the bytes read here, even if the file is written meanwhile
      const input = inputOf(path)
      read.set(path, input)
      return path.endsWith('.ts') && !path.startsWith('node_modules/')
        ? { code: placed(String(input), path), moduleType: 'ts' as const }
        : null
    },
  }
  const build = await rolldown({
    ...{
      cwd: root,
      input: 'src/main.ts',
      platform: 'node',
      external: externals,
      plugins: [plugin],
      logLevel: 'silent',
    },
  })
  const { output } = await build.generate({ format: 'cjs', codeSplitting: false, sourcemap: true, comments: false })
  await build.close()
  const [chunk, ...others] = output.filter((each) => each.type === 'chunk')
  if (chunk === undefined || others.length > 0) throw new Error('the bundler made more than one file')
  const paths = [...read.keys()].toSorted()
  const text = `${before}${ascii(chunk.code)}\n${after}`
  // throws when the text is not a script
  new Script(text)
  return {
    text,
    places: placesOf(chunk.map ?? { sources: [], mappings: '' }),
    inputs: inputsOf(paths, (path: string) => read.get(path) ?? ''),
    paths,
    untouched: untouchedOf(root, paths, readAt),
  }
}

/** Replaces `import.meta` so that a module still finds the location of its source. */
const placed = (code: string, path: string): string =>
  code
    .replaceAll('import.meta.url', `__urlOf(${JSON.stringify(path)})`)
    .replaceAll('import.meta.filename', `require('node:url').fileURLToPath(__urlOf(${JSON.stringify(path)}))`)

/**
 * Escapes non-ASCII characters: a string with one byte per character takes half the memory and a third of the time to
 * read.
 */
const ascii = (code: string): string => code.replace(/\P{ASCII}/gu, (char) => char.split('').map(escaped).join(''))

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

const digits = new Map(
  [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].map((char, at) => [char, at]),
)

/** Source and line of the first mapping in each line of the text; line 0 for one without any. */
const placesOf = (map: { readonly sources: readonly string[]; readonly mappings: string }): Bundled['places'] => {
  const files: number[] = []
  const lines: number[] = []
  let [file, line] = [0, 0]
  for (const row of map.mappings.split(';')) {
    let first: readonly [file: number, line: number] | undefined
    for (const segment of row.split(',')) {
      const [, fileStep, lineStep] = numbersOf(segment)
      if (fileStep === undefined || lineStep === undefined) continue
      file += fileStep
      line += lineStep
      first ??= [file, line]
    }
    files.push(first?.[0] ?? -1)
    lines.push((first?.[1] ?? -1) + 1)
  }
  return { sources: map.sources.map((source) => source.replace(/^(\.\.\/)+/, '')), files, lines }
}

/** Numbers of a segment of a source map (base 64, variable length). */
const numbersOf = (segment: string): readonly number[] => {
  const numbers: number[] = []
  let [value, shift] = [0, 0]
  for (const char of segment) {
    const digit = digits.get(char) ?? 0
    value |= (digit & 31) << shift
    shift += 5
    if ((digit & 32) !== 0) continue
    numbers.push((value & 1) === 1 ? -(value >> 1) : value >> 1)
    value = shift = 0
  }
  return numbers
}
