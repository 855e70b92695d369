import { createParser } from 'eventsource-parser'
import { SseDecoder } from '#outgoing/sse-decoder.ts'

/**
 * `node bench/sse/decoders.ts`: microseconds of CPU per event of our decoder of event streams and of
 * eventsource-parser, on a model's stream in chunks of one event, and in chunks of 1,460 bytes (specs/decisions/0337-code-of-others.md).
 */
const events = 200_000
const delta = (at: number): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: ` word${at}` }, finish_reason: null }] })}\n\n`

const single = Array.from({ length: events }, (_, at) => Buffer.from(delta(at)))
const whole = Buffer.concat(single)
const packets = Array.from({ length: Math.ceil(whole.length / 1460) }, (_, at) =>
  whole.subarray(at * 1460, (at + 1) * 1460),
)

/** Each decodes all chunks, from bytes to events, and returns their number. */
const decoders: Readonly<Record<string, (chunks: readonly Buffer[]) => number>> = {
  own: (chunks) => {
    let seen = 0
    const decoder = new SseDecoder(() => seen++)
    for (const chunk of chunks) decoder.push(chunk)
    return seen
  },
  'eventsource-parser': (chunks) => {
    let seen = 0
    const parser = createParser({ onEvent: () => seen++ })
    const utf8 = new TextDecoder()
    for (const chunk of chunks) parser.feed(utf8.decode(chunk, { stream: true }))
    return seen
  },
}

for (const [shape, chunks] of Object.entries({ 'an event a chunk': single, 'chunks of 1,460 bytes': packets })) {
  const best = new Map<string, number>()
  for (let round = 0; round < 7; round++) {
    for (const [name, decode] of Object.entries(decoders)) {
      const begun = process.cpuUsage()
      if (decode(chunks) !== events) throw new Error(`${name} lost events`)
      const { user, system } = process.cpuUsage(begun)
      best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, (user + system) / events))
    }
  }
  for (const [name, us] of best) console.log(`${shape}: ${name} ${us.toFixed(2)} µs an event`)
}
