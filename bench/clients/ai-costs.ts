import { parseJsonEventStream, readUIMessageStream, type UIMessageChunk, uiMessageChunkSchema } from 'ai'

/** A stream of these chunks in the wire format of `ai`, in pieces of eight. */
const streamOf = (chunks: readonly UIMessageChunk[]): ReadableStream<Uint8Array> => {
  const frames = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
  const encoder = new TextEncoder()
  return new ReadableStream({
    start: (controller) => {
      for (let at = 0; at < frames.length; at += 8)
        controller.enqueue(encoder.encode(frames.slice(at, at + 8).join('')))
      controller.close()
    },
  })
}

const chunksOf = (deltas: number): readonly UIMessageChunk[] => [
  { type: 'start', messageId: 'msg_1' },
  { type: 'text-start', id: '0' },
  ...Array.from({ length: deltas }, (_, at): UIMessageChunk => ({ type: 'text-delta', id: '0', delta: `word${at} ` })),
]

/** The chunks of a stream, as a transport of `useChat` reads them. */
const parsed = (deltas: number): ReadableStream<UIMessageChunk> =>
  parseJsonEventStream({ stream: streamOf(chunksOf(deltas)), schema: uiMessageChunkSchema }).pipeThrough(
    new TransformStream({
      transform: (result, controller) => {
        if (result.success) controller.enqueue(result.value)
      },
    }),
  )

/** Reads a stream into typed chunks. @returns the number of deltas */
export const aiTyped = async (deltas: number): Promise<number> => {
  let seen = 0
  for await (const { type } of parsed(deltas)) seen += type === 'text-delta' ? 1 : 0
  return seen
}

/** Reads a stream into a message, as `useChat` does. @returns the number of deltas that it shows */
export const aiStored = async (deltas: number): Promise<number> => {
  let words = 0
  for await (const { parts } of readUIMessageStream({ stream: parsed(deltas) })) {
    const [part] = parts
    if (part?.type === 'text') words = part.text.length
  }
  const all = Array.from({ length: deltas }, (_, at) => `word${at} `.length).reduce((sum, each) => sum + each, 0)
  return words === all ? deltas : -1
}
