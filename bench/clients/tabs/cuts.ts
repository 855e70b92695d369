import { type Session, type Transport, Troupe, webSocket } from '#client/index.ts'
import { sized } from '../../extent.ts'
import type { Row } from '../../row.ts'
import type { TabWorld } from './tab-world.ts'

const frames = sized(50, 3)
/** Readers at the same time. */
const readers = 16
/** Bytes of a response before its first event: its head, and the head of its first chunk. */
const headBytes = 700

/** Sequences of a session's log. */
const logOf = async (session: Session, last: number): Promise<readonly number[]> => {
  const log: number[] = []
  for await (const { id } of session.events()) {
    log.push(id)
    if (log.length === last) return log
  }
  return log
}

/** Cuts the stream of a session after every byte of its first frames, and reads it whole each time. */
const cutAtEveryByte = async (
  world: TabWorld,
  transport?: Transport,
): Promise<readonly [gaps: number, doubles: number]> => {
  const { key = '' } = world.operator.options
  const client = () => new Troupe({ baseUrl: world.proxy.url, key, transport })
  const written = world.operator.sessions.open()
  let bytes = headBytes
  for (let turn = 0; turn * 3 < frames; turn++)
    await written.send(`reply exactly: Words, a 🙂 and a line\nbreak, ${turn}.`)
  const log = await logOf(written, frames)
  const stream = await world.operator.request('GET', `/v1/sessions/${written.id}/events`, { query: { limit: frames } })
  bytes += (await stream.text()).length
  const cuts: number[] = []
  world.proxy.next = (request) => (/\/(stream|ws)\?/.test(request) ? asCut(cuts.shift()) : null)
  let [at, gaps, doubles] = [0, 0, 0]
  const reader = async (): Promise<void> => {
    while (at < bytes) {
      cuts.push(at++)
      const seen = await logOf(client().sessions.open(written.id), log.length)
      gaps += log.filter((id) => !seen.includes(id)).length
      doubles += seen.length - new Set(seen).size
    }
  }
  await Promise.all(Array.from({ length: readers }, reader))
  world.proxy.next = () => null
  return [gaps, doubles]
}

const asCut = (afterBytes?: number) => (afterBytes === undefined ? null : { afterBytes })

/** Measures what a reader loses and repeats whose connection is cut, wherever that is. */
export const cutRows = async (world: TabWorld): Promise<readonly Row[]> => {
  const rows: Row[] = []
  for (const { over, transport } of [
    { over: 'server-sent events', transport: undefined },
    { over: 'a WebSocket', transport: webSocket },
  ]) {
    const [gaps, doubles] = await cutAtEveryByte(world, transport)
    const bound = { of: 'ours', atMost: 0 } as const
    rows.push(
      { measure: `cut at every byte of ${frames} frames, ${over}: events lost`, unit: '', ours: gaps, bound },
      { measure: 'the same: events doubled', unit: '', ours: doubles, bound },
    )
  }
  return rows
}
