import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { lend, ours, packed, stranger } from './packed.ts'
import { blocksOf, withGiven } from './page-code.ts'

const run = promisify(execFile)

/** What blocks of the pages use beside what they declare. */
const given = {
  system: "declare const system: Awaited<ReturnType<typeof import('@troupe/runtime').open>>",
  order: "declare const order: Parameters<typeof import('@troupe/runtime').open>[0]['machines'][number]",
  effects: "declare const effects: NonNullable<Parameters<typeof import('@troupe/runtime').open>[0]['effects']>",
  log: "declare const log: Parameters<typeof import('@troupe/runtime-redis').openRedis>[0]['log']",
  openMyStorage: "import { openMyStorage } from './open-my-storage.ts'",
  setup: "import { setup } from 'xstate'",
  vocabulary: "import { vocabulary } from '@troupe/runtime'",
  Shown: 'type Shown<_Context, Status extends string> = { readonly status?: Status }',
}
const readme = readFileSync(ours('packages/runtime/README.md'), 'utf8')
const example = /`order\.ts`:\n\n```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''

let [shop, other] = ['', '']
const running = new Set<ChildProcess>()
let tarballs: readonly string[] = []

beforeAll(async () => {
  tarballs = await packed('runtime', 'runtime-mongo', 'runtime-redis', 'storage-testkit')
  const xstate = `xstate@${manifest.dependencies.xstate}`
  const [runtime = ''] = tarballs
  shop = await stranger(runtime, xstate)
  writeFileSync(join(shop, 'order.ts'), example)
})

afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
  for (const folder of [shop, other, dirname(tarballs[0] ?? '')]) if (folder !== '') rmSync(folder, { recursive: true })
})

/** Starts the example with plain Node, and resolves when it has printed `until`. */
const started = async (until: string, ...args: readonly string[]): Promise<{ child: ChildProcess; text: string }> => {
  const child = spawn(process.execPath, ['order.ts', ...args], { cwd: shop, env: { PATH: process.env.PATH ?? '' } })
  running.add(child)
  let text = ''
  child.stderr.on('data', (data) => {
    text += data
  })
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (data) => {
      text += data
      if (text.includes(until)) resolve()
    })
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${text}`)))
  })
  return { child, text }
}

const killed = async ({ child }: { child: ChildProcess }): Promise<void> => {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

describe('a stranger with the tarball of the runtime', () => {
  it('has an example of some thirty lines', () => {
    expect(
      example
        .trim()
        .split('\n')
        .filter((line) => line !== '').length,
    ).toBeLessThanOrEqual(40)
  })

  it('runs it with plain Node: killed while it waits and while it pays, the order is paid under the same key', async () => {
    await killed(await started('order.waiting'))
    const paying = await started('charging', 'approve')
    const [charge] = /charging 30 under order_\w+:\d+:0/.exec(paying.text) ?? []
    expect(charge).toBeDefined()
    await killed(paying)
    const { child, text } = await started('order.paid')
    if (child.exitCode === null) await once(child, 'exit')
    expect(child.exitCode).toBe(0)
    expect(text.split(String(charge))).toHaveLength(2)
    expect(text.match(/^order\.\w+/gm)).toEqual(['order.waiting', 'order.paid'])
  })

  it('has types that a strict compiler accepts, libraries included', async () => {
    mkdirSync(join(shop, 'node_modules/@types'), { recursive: true })
    for (const name of ['@types/node', 'undici-types']) lend(shop, name)
    const options = {
      strict: true,
      noEmit: true,
      module: 'NodeNext',
      target: 'ES2024',
      types: ['node'],
      skipLibCheck: false,
    }
    writeFileSync(join(shop, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['order.ts'] }))
    const checked = run(process.execPath, [ours('node_modules/typescript/bin/tsc'), '-p', shop])
    await expect(checked).resolves.toMatchObject({ stdout: '' })
    writeFileSync(join(shop, 'order.ts'), example.replace("system.start('order'", 'system.start(1'))
    await expect(run(process.execPath, [ours('node_modules/typescript/bin/tsc'), '-p', shop])).rejects.toThrow()
  })

  it('sees the chart of a machine and the states of an actor on a loopback port', async () => {
    writeFileSync(join(shop, 'lamp.mjs'), lamp)
    const { stdout } = await run(process.execPath, ['lamp.mjs'], { cwd: shop })
    expect(JSON.parse(stdout)).toMatchObject({
      page: expect.stringContaining('/code/chart.ts'),
      code: expect.stringContaining('class Chart'),
      chart: { machine: 'lamp', nodes: expect.arrayContaining([expect.objectContaining({ id: 'on.bright' })]) },
      actor: { value: { on: 'bright' }, active: ['on', 'on.bright'] },
      foreign: 403,
    })
  })
})

/** A machine of one's own: with a reminder, and a page that is read by its address and by a foreign name. */
const lamp = `
import { get } from 'node:http'
import { open, openMemoryStorage } from '@troupe/runtime'
import { setup } from 'xstate'

const lamp = setup({}).createMachine({
  id: 'lamp',
  initial: 'off',
  states: {
    off: { on: { flip: 'on' } },
    on: { initial: 'dim', states: { dim: { after: { 50: 'bright' } }, bright: {} } },
  },
})
const system = await open({ storage: openMemoryStorage(), machines: [lamp] })
const id = await system.start('lamp')
await system.send(id, { type: 'flip' })
while ((await system.read(id)).value.on !== 'bright') await new Promise((resolve) => setTimeout(resolve, 20))
const { url } = await system.inspect()
const text = async (path) => (await fetch(url + path)).text()
const foreign = await new Promise((resolve) => {
  get(url, { headers: { host: 'evil.test' } }, (response) => resolve(response.resume().statusCode))
})
console.log(JSON.stringify({
  page: await text(''),
  code: await text('code/chart.ts'),
  chart: JSON.parse(await text('charts/lamp')),
  actor: JSON.parse(await text('actors/' + id)),
  foreign,
}))
await system.close()
`

describe('a stranger with the other tarballs', () => {
  it('opens the drivers’ packages beside the runtime, with one class of its errors', async () => {
    other = await stranger(...tarballs, `xstate@${manifest.dependencies.xstate}`)
    const code = `
      import { StoreUnavailable } from '@troupe/runtime'
      import { openMongoStorage } from '@troupe/runtime-mongo'
      import { openRedis } from '@troupe/runtime-redis'
      const options = { url: 'mongodb://127.0.0.1:9/', database: 'shop', startPatienceMs: 300 }
      const failed = await openMongoStorage(options).catch((error) => error)
      console.log(failed instanceof StoreUnavailable, typeof openRedis)
      process.exit()
    `
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code], { cwd: other })
    expect(stdout.trim()).toBe('true function')
  })

  it('gets pages whose code the compiler accepts', async () => {
    mkdirSync(join(other, 'node_modules/@types'), { recursive: true })
    for (const name of ['@types/node', 'undici-types']) lend(other, name)
    const pages = ['runtime', 'runtime-mongo', 'runtime-redis', 'storage-testkit'].map(
      (name) => `packages/${name}/README.md`,
    )
    const files = [...pages, 'docs/xstate.md'].flatMap((page, nth) =>
      blocksOf(page, 'ts').map((block, at) => {
        const name = `page-${nth}-${at}.ts`
        writeFileSync(join(other, name), withGiven(block.replaceAll('../src/', './'), given))
        return name
      }),
    )
    expect(files).toHaveLength(7)
    writeFileSync(
      join(other, 'open-my-storage.ts'),
      "export { openMemoryStorage as openMyStorage } from '@troupe/runtime'",
    )
    lend(other, 'vitest')
    const options = {
      strict: true,
      noEmit: true,
      module: 'NodeNext',
      target: 'ES2024',
      lib: ['ES2024', 'DOM'],
      types: ['node'],
    }
    const compilerOptions = { ...options, skipLibCheck: true, allowImportingTsExtensions: true }
    writeFileSync(join(other, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    const checked = run(process.execPath, [ours('node_modules/typescript/bin/tsc'), '-p', other])
    expect(await checked.catch((error: unknown) => error)).toMatchObject({ stdout: '' })
  })

  it('runs the contract of stores on a store, and leaves out what it lacks', async () => {
    lend(other, 'vitest')
    const suite = `
      import { storageContract } from '@troupe/storage-testkit'
      import { openMemoryStorage } from '@troupe/runtime'
      storageContract('packed', (now) => openMemoryStorage({ now }), { merges: false })
    `
    writeFileSync(join(other, 'store.test.js'), suite)
    const report = join(other, 'report.json')
    const vitest = [
      ours('node_modules/vitest/vitest.mjs'),
      'run',
      '--root',
      other,
      '--testTimeout=60000',
      '--reporter=json',
    ]
    await run(process.execPath, [...vitest, `--outputFile=${report}`], { cwd: other })
    const { numFailedTests, numPassedTests, numPendingTests } = JSON.parse(readFileSync(report, 'utf8'))
    expect({ numFailedTests, passes: numPassedTests > 80, skips: numPendingTests > 5 }).toEqual({
      numFailedTests: 0,
      passes: true,
      skips: true,
    })
  })
})
