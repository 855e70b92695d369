import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { currentBundle, folderOf, hasCode, keepBundle, loadBundle } from '#src/start/bundle.js'
import { bundled } from '#src/start/bundled.ts'

const main = `import { readFileSync } from 'node:fs'
import { two } from '#src/parts/two.ts'
import { word } from 'word'

interface Unused {
  readonly of: string
}

export const there = readFileSync(new URL('./parts/data.txt', import.meta.url), 'utf8')
export const name = import.meta.filename
export const words = [word, 'größer als 😀']
export const twice = (value: number): number => value * two
export const later = async (): Promise<number> => (await import('./parts/later.ts')).three
export const broken = (): void => {
  throw new Error('out of order')
}
`

/** Exports of `main`. */
interface Entry {
  readonly there: string
  readonly name: string
  readonly words: readonly string[]
  readonly twice: (value: number) => number
  readonly later: () => Promise<number>
  readonly broken: () => void
}

describe('a bundle', () => {
  let root = ''
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const { prepareStackTrace } = Error

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'troupe-bundle-'))
    write('package.json', JSON.stringify({ type: 'module', imports: { '#src/*': './src/*' } }))
    write('package-lock.json', '{}')
    for (const name of ['bundle.js', 'bundled.ts', 'make-bundle.ts', 'warm-code.ts']) {
      mkdirSync(join(root, 'src/start'), { recursive: true })
      cpSync(`src/start/${name}`, join(root, 'src/start', name))
    }
    write('src/main.ts', main)
    write('src/parts/two.ts', 'export const two: number = 2\n')
    write('src/parts/later.ts', 'export const three = 3\n')
    write('src/parts/data.txt', 'data')
    write('node_modules/word/package.json', JSON.stringify({ name: 'word', main: 'index.js' }))
    write('node_modules/word/index.js', "exports.word = 'word'\n")
  })
  afterEach(() => {
    Error.prepareStackTrace = prepareStackTrace
    rmSync(root, { recursive: true, force: true })
  })

  const made = async () => {
    keepBundle(root, await bundled(root))
    return theBundle()
  }
  const run = (bundle: Parameters<typeof loadBundle>[1]): Partial<Entry> => loadBundle(root, bundle).run()
  const theBundle = () => {
    const bundle = currentBundle(root)
    if (bundle === null) throw new Error('there is no bundle')
    return bundle
  }

  it('runs like its sources: with their files, packages, dynamic imports and characters', async () => {
    const { there, name, words, twice, later } = run(await made())
    expect([there, name, words, twice?.(4)]).toEqual(['data', join(root, 'src/main.ts'), ['word', 'größer als 😀'], 8])
    expect(await later?.()).toBe(3)
  })

  it('names the source and its line in stack traces', async () => {
    const { broken } = run(await made())
    const thrown = await Promise.resolve()
      .then(broken)
      .catch((error: unknown) => error)
    const stack = thrown instanceof Error ? thrown.stack : undefined
    expect(stack).toMatch(/^Error: out of order\n/)
    expect(stack).toContain(`broken (${root}/src/main.ts:15)`)
  })

  it.each([
    ['a source', 'src/parts/two.ts', 'export const two: number = 3\n'],
    ['a source that is imported late', 'src/parts/later.ts', 'export const three = 4\n'],
    ['a package', 'node_modules/word/index.js', "exports.word = 'another word'\n"],
    ['the list of packages', 'package-lock.json', '{ }'],
    ['the aliases of folders', 'package.json', '{"type":"module"}'],
  ])('is not used after a change of %s', async (_, path, text) => {
    await made()
    write(path, text)
    expect(currentBundle(root)).toBeNull()
  })

  it('is not used after a source is rewritten with the same size and time', async () => {
    const path = join(root, 'src/parts/two.ts')
    const time = new Date(1_700_000_000_000)
    utimesSync(path, time, time)
    await made()
    writeFileSync(path, 'export const two: number = 9\n')
    utimesSync(path, time, time)
    expect(currentBundle(root)).toBeNull()
  })

  describe('whose sources were written long before it', () => {
    /** Waits until the sources are old enough to count as untouched, and makes the bundle. */
    const settled = async () => {
      await expect.poll(async () => (await bundled(root)).untouched, { interval: 250 }).not.toBeNull()
      return made()
    }

    it('is used without reading them, and they are read again after any change', async () => {
      await settled()
      const path = join(root, 'src/parts/two.ts')
      const { mtime } = statSync(path)
      writeFileSync(path, 'export const two: number = 9\n')
      utimesSync(path, mtime, mtime)
      expect(currentBundle(root)).toBeNull()
      writeFileSync(path, 'export const two: number = 2\n')
      expect(theBundle()).toBeDefined()
    })

    it('is used in a copy of the installation', async () => {
      await settled()
      const copy = `${root}-copy`
      cpSync(root, copy, { recursive: true, preserveTimestamps: true })
      try {
        expect(currentBundle(copy)).not.toBeNull()
      } finally {
        rmSync(copy, { recursive: true, force: true })
      }
    })
  })

  it('is used again when a change is reverted', async () => {
    const { file } = await made()
    write('src/main.ts', `${main}\n`)
    expect(currentBundle(root)).toBeNull()
    write('src/main.ts', main)
    expect(currentBundle(root)?.file).toBe(file)
  })

  it.each([
    [
      'the bundle is damaged',
      (file: string) => writeFileSync(file, readFileSync(file, 'utf8').replace('data', 'dada')),
    ],
    ['the bundle is cut', (file: string) => writeFileSync(file, readFileSync(file).subarray(0, 100))],
    ['the bundle is missing', (file: string) => rmSync(file)],
    ['the list of its files is damaged', () => writeFileSync(`${folderOf(root)}/bundle.json`, '{"node":')],
    ['the list of its files is of another kind', () => writeFileSync(`${folderOf(root)}/bundle.json`, '[]')],
  ])('is not used when %s', async (_, damage) => {
    damage((await made()).file)
    expect(currentBundle(root)).toBeNull()
  })

  it('is compiled from the code cache of V8 if that is intact, and without it otherwise', async () => {
    const bundle = await made()
    const first = loadBundle(root, bundle)
    expect([first.isCompiled, hasCode(bundle.file)]).toEqual([false, false])
    first.run()
    first.keepCode()
    const [code = ''] = readdirSync(folderOf(root)).filter((name) => name.endsWith('.code'))
    expect([loadBundle(root, bundle).isCompiled, hasCode(bundle.file)]).toEqual([true, true])
    const kept = readFileSync(join(folderOf(root), code))
    for (const damaged of [kept.subarray(0, kept.length - 1), kept.fill(7, 100, 120), Buffer.alloc(0)]) {
      writeFileSync(join(folderOf(root), code), damaged)
      const loaded = loadBundle(root, bundle)
      expect([loaded.isCompiled, hasCode(bundle.file), run(bundle).twice?.(4)]).toEqual([false, false, 8])
    }
  })

  it('leaves no partial files', async () => {
    await made()
    expect(readdirSync(folderOf(root)).filter((name) => name.endsWith('.part'))).toEqual([])
  })

  it.each([0, 20])(
    'is loaded from sources also where a power failure left %i bytes of what was kept of them',
    (left) => {
      for (const name of ['kept-sources.js', 'require-node.js', 'sources.js'])
        cpSync(`src/start/${name}`, join(root, 'src/start', name))
      write('src/shown.ts', 'const shown: string = process.version\nconsole.log(shown)\n')
      const run = () =>
        execFileSync(process.execPath, ['--import', './src/start/kept-sources.js', 'src/shown.ts'], options)
      const options = { cwd: root, encoding: 'utf8', stdio: 'pipe' } as const
      expect(run()).toBe(`${process.version}\n`)
      for (const name of readdirSync(folderOf(root)).filter((each) => each.endsWith('.js')))
        truncateSync(join(folderOf(root), name), left)
      expect(run()).toBe(`${process.version}\n`)
    },
  )

  it('is kept whole and without a failure by threads of one process that write the same at once', async () => {
    const file = join(root, 'kept.js')
    const module = new URL('../../src/start/bundle.js', import.meta.url).href
    const writer = `
      import { keep } from ${JSON.stringify(module)}
      for (let n = 0; n < 30; n++) keep(${JSON.stringify(file)}, 'x'.repeat(1_000_000))`
    const url = new URL(`data:text/javascript,${encodeURIComponent(writer)}`)
    // it rejects with the error of the thread
    await Promise.all(Array.from({ length: 4 }, () => once(new Worker(url), 'exit')))
    expect(readFileSync(file).length).toBe(1_000_000)
    expect(readdirSync(root).filter((name) => name.endsWith('.part'))).toEqual([])
  })
})
