/** One SSE frame. */
export interface Frame {
  readonly event: string
  readonly id: string
  readonly data: Record<string, unknown>
}

/** Yields the frames of an SSE body as they arrive; comments are skipped. */
export async function* frames(body: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const part of body) {
    rest += decoder.decode(part, { stream: true })
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      const frame = parsed(rest.slice(0, end))
      rest = rest.slice(end + 2)
      if (frame !== undefined) yield frame
    }
  }
}

const parsed = (text: string): Frame | undefined => {
  const fields = new Map(text.split('\n').map((line): [string, string] => split(line)))
  const data = fields.get('data')
  if (data === undefined) return undefined
  return { event: fields.get('event') ?? '', id: fields.get('id') ?? '', data: JSON.parse(data) }
}

const split = (line: string): [string, string] => {
  const at = line.indexOf(': ')
  return [line.slice(0, at), line.slice(at + 2)]
}
