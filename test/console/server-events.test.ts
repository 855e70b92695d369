import { describe, expect, it } from 'vitest'
import { framesIn } from '../../console/playground/server-events.js'

describe('frames of a stream', () => {
  it('are parsed when complete, and the rest is kept', () => {
    const text = ': hello\n\nid: 3\nevent: turn.started\ndata: {"turn_number":1}\n\nevent: turn.com'
    expect(framesIn(text)).toEqual({
      frames: [{ event: 'turn.started', data: { turn_number: 1 }, id: 3 }],
      rest: 'event: turn.com',
    })
  })

  it('keep colons and line breaks of their data', () => {
    const data = JSON.stringify({ delta: 'a: b\nc' })
    expect(framesIn(`event: response.output_text.delta\ndata: ${data}\n\n`).frames[0]?.data).toEqual({
      delta: 'a: b\nc',
    })
  })
})
