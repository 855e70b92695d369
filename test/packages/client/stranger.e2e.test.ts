import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { World } from '#test/e2e/world.ts'
import { lend, ours, packed, stranger } from '../packed.ts'
import { blocksOf, withGiven } from '../page-code.ts'

const run = promisify(execFile)

let world: World
let folder = ''
let tarballs: readonly string[] = []
beforeAll(async () => {
  tarballs = await packed('client', 'react')
  ;[folder, world] = await Promise.all([stranger(...tarballs), World.start()])
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  rmSync(dirname(tarballs[0] ?? ''), { recursive: true })
  await world.stop()
})

/** A use of each part of the session core, whose `switch` has no way out but all events. */
const code = `
import { type SessionEvent, Troupe, TroupeError } from '@troupe/client'
import { api, unwrap } from '@troupe/client/api'

const troupe = new Troupe({ baseUrl: process.argv[2] ?? '', key: process.argv[3] ?? '' })
const session = troupe.sessions.open()
const { text } = await session.send('reply exactly: Hello stranger.')
const named = ({ event }: SessionEvent): string => {
  switch (event) {
    case 'session.forked': case 'turn.started': case 'turn.restarted': case 'output_text.delta': case 'context.compacted': case 'guardrail.triggered': case 'reasoning.delta':
    case 'tool_call.started': case 'tool_call.progress': case 'tool_call.completed': case 'turn.paused': case 'turn.resumed':
    case 'turn.completed': case 'turn.failed': case 'stream.ended':
      return event
  }
}
const names: string[] = []
for await (const event of session.events()) {
  names.push(named(event))
  if (event.event === 'turn.completed') break
}
for await (const { id, status } of api(troupe).sessions.list({ limit: 1 })) if (id !== session.id || status !== 'active') throw id
const unsigned = await unwrap({ headers: {}, body: '' }, 'whsec_AAAA').catch(() => null)
if (unsigned?.type === 'run.completed') throw unsigned.data.run_id
const refused = await troupe.request('GET', '/v1/sessions/ses_none').catch((error: unknown) => error)
console.log(JSON.stringify({ text, names: [...new Set(names)], code: refused instanceof TroupeError ? refused.code : '' }))
`

/** What blocks of the pages use beside what they declare: of blocks before them, and of frameworks. */
const given = {
  troupe: "import type { Troupe } from '@troupe/client'; declare const troupe: Troupe",
  session: "import type { Session } from '@troupe/client'; declare const session: Session",
  file: 'declare const file: File',
  picture: 'declare const picture: HTMLImageElement',
  process: 'declare const process: { readonly env: Readonly<Record<string, string>> }',
  request: 'declare const request: { readonly headers: Readonly<Record<string, string>>; readonly body: string }',
  app: 'declare const app: { post(path: string, route: (context: { readonly req: { readonly raw: Request } }) => unknown): void; post(path: string, route: (request: never, response: never) => unknown): void }',
  useChat: 'declare const useChat: (options: object) => void',
  HttpAgent: 'declare const HttpAgent: new (config: object) => object',
}

const comment = /\/\*[\s\S]*?\*\/|\/\/.*$/gm
const literal = /'[^'\n]*'|"[^"\n]*"/g
/** What a file of types declares, without comments and literals. */
const declared = (types: string): string => types.replaceAll(comment, '').replaceAll(literal, "''")
const anyType = /\bany\b/

describe('a stranger with the tarball of the client', () => {
  it('has types that a strict compiler accepts with the library of browsers alone', async () => {
    writeFileSync(join(folder, 'use.ts'), `declare const process: { argv: readonly string[] }\n${code}`)
    const options = {
      strict: true,
      noEmit: true,
      module: 'NodeNext',
      target: 'ES2024',
      lib: ['ES2024', 'DOM', 'DOM.AsyncIterable'],
      types: [],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['use.ts'] }))
    const compiler = [ours('node_modules/typescript/bin/tsc'), '-p', folder]
    const printed = await run(process.execPath, compiler).catch((error: unknown) => error)
    expect(printed).toMatchObject({ stdout: '' })
    writeFileSync(
      join(folder, 'use.ts'),
      `declare const process: { argv: readonly string[] }\n${code.replace("case 'turn.failed':", '')}`,
    )
    await expect(run(process.execPath, compiler)).rejects.toThrow()
  })

  it('gets pages whose code the compiler accepts', async () => {
    mkdirSync(join(folder, 'node_modules/@types'), { recursive: true })
    for (const name of ['@types/react', 'csstype']) lend(folder, name)
    const pages = ['packages/client/README.md', 'packages/react/README.md']
    const files = pages.flatMap((page) =>
      blocksOf(page, 'tsx?').map((block, at) => {
        const name = `page-${page.split('/')[1]}-${at}.tsx`
        writeFileSync(join(folder, name), withGiven(block, given))
        return name
      }),
    )
    expect(files).toHaveLength(9)
    const options = { strict: true, noEmit: true, module: 'NodeNext', target: 'ES2024', jsx: 'react-jsx', types: [] }
    const compilerOptions = {
      ...options,
      lib: ['ES2024', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'],
      skipLibCheck: true,
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    const compiler = [ours('node_modules/typescript/bin/tsc'), '-p', folder]
    expect(await run(process.execPath, compiler).catch((error: unknown) => error)).toMatchObject({ stdout: '' })
  })

  it('has types of the session core of at most 60 KB', () => {
    const types = join(folder, 'node_modules/@troupe/client/dist/packages/client/src')
    const files = readdirSync(types).filter((name) => name.endsWith('.d.ts') && name !== 'webhooks.d.ts')
    const bytes = files.map((name) => statSync(join(types, name)).size).reduce((sum, size) => sum + size, 0)
    expect(bytes).toBeGreaterThan(5000)
    expect(bytes).toBeLessThanOrEqual(60_000)
  })

  it('has no `any` in the types of anything that it can import', () => {
    const types = join(folder, 'node_modules/@troupe')
    const files = readdirSync(types, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.d.ts'))
    expect(files.filter((name) => name.startsWith('client/')).length).toBeGreaterThan(15)
    expect(files.filter((name) => name.startsWith('react/')).length).toBeGreaterThan(4)
    const untyped = files.filter((name) => anyType.test(declared(readFileSync(join(types, name), 'utf8'))))
    expect(untyped).toEqual([])
  })

  it('talks to a server with it', async () => {
    writeFileSync(join(folder, 'run.ts'), code)
    const { stdout } = await run(
      process.execPath,
      ['--experimental-strip-types', 'run.ts', world.url, world.secretKey],
      { cwd: folder },
    )
    expect(JSON.parse(stdout)).toEqual({
      text: 'Hello stranger.',
      names: ['turn.started', 'output_text.delta', 'turn.completed'],
      code: 'not_found',
    })
  })

  it('gets no dependency with it', () => {
    const lent = ['@types', 'csstype']
    const installed = readdirSync(join(folder, 'node_modules')).filter(
      (name) => !/^\./.test(name) && !lent.includes(name),
    )
    expect(installed).toEqual(['@troupe'])
    expect(readdirSync(join(folder, 'node_modules/@troupe'))).toEqual(['client', 'react'])
  })
})
