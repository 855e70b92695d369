import { closeSync, openSync } from 'node:fs'
import { resolve } from 'node:path'
import { inspect } from 'node:util'
import type * as server from '#src/main.ts'
import { currentBundle, loadBundle } from '#src/start/bundle.js'
import { loadSources } from '#src/start/sources.js'

/*
 * A process that opens and closes installations for its parent (server-host.ts), from the bundle as a start does. Its
 * modules are loaded once, and its code is compiled once.
 */

/** A request of the parent: opens an installation with a log file, or closes the one that was opened as `close`. */
export type HostRequest = { readonly id: number } & (
  | { readonly env: Readonly<Record<string, string>>; readonly log: string }
  | { readonly close: number }
)

/** `failure`: why it could not be done; null if it is. */
export interface HostAnswer {
  readonly id: number
  readonly failure: string | null
}

const root = resolve(import.meta.dirname, '../../..')

/** The exports of src/main.ts. */
const load = async (): Promise<Partial<typeof server>> => {
  const bundle = currentBundle(root)
  return bundle === null ? await loadSources(root) : loadBundle(root, bundle).run()
}

const loaded = load()
const opened = new Map<number, () => Promise<void>>()

const open = async (id: number, env: Readonly<Record<string, string>>, log: string): Promise<void> => {
  const { open } = await loaded
  if (open === undefined) throw new Error('the bundle is not one of the server')
  const output = openSync(log, 'a')
  const { stop } = await open(env, output)
  opened.set(id, () => stop().finally(() => closeSync(output)))
}

const close = async (id: number): Promise<void> => {
  const stop = opened.get(id)
  opened.delete(id)
  await stop?.()
}

const answer = (id: number, failure: string | null): void => {
  process.send?.({ id, failure } satisfies HostAnswer)
}

process.on('message', (request: HostRequest) => {
  const work = 'env' in request ? open(request.id, request.env, request.log) : close(request.close)
  work.then(
    () => answer(request.id, null),
    (error: unknown) => answer(request.id, inspect(error)),
  )
})
process.on('disconnect', () => process.exit())
process.on('unhandledRejection', (error) => process.stderr.write(`unhandled rejection ${inspect(error)}\n`))
