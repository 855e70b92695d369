import { describe, expect, it } from 'vitest'
import type { ModelToolCall } from '#gateway/call/provider-port.ts'
import { signatureIn } from '#gateway/providers/tool-call-id.ts'
import { receivedCall, sentCallId, sentThoughts } from '#gateway/turns/carried.ts'

/** As conversations keep it: what was stored once has to be read for ever. */
const signed: ModelToolCall = { callId: 'c1', name: 'f', arguments: '{}', opaque: 'google:gemini-3.5-flash:c2ln' }
const thought: ModelToolCall = {
  ...{ callId: 'c1', name: 'f', arguments: '{}' },
  opaque: 'anthropic:[{"type":"thinking","thinking":"Hm.","signature":"c2ln"}]',
}
const plain: ModelToolCall = { callId: 'c1', name: 'f', arguments: '{}' }

describe('what a provider wants back with a call', () => {
  it('goes in the id of the call for Google, good for the model that made it', () => {
    expect(signatureIn(sentCallId(signed), 'gemini-3.5-flash')).toBe('c2ln')
    expect(signatureIn(sentCallId(signed), 'gemini-3.7-flash')).toBeNull()
    expect(sentThoughts([signed])).toBeNull()
  })

  it('goes beside the text for Anthropic', () => {
    expect(sentThoughts([thought, plain])).toEqual([{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }])
    expect(sentCallId(thought)).toBe('c1')
  })

  it('is nothing for other providers', () => {
    expect([sentCallId(plain), sentThoughts([plain]), sentThoughts([])]).toEqual(['c1', null, null])
  })

  it('is kept as it was given', () => {
    const thoughts = [{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }]
    expect(receivedCall(sentCallId(signed), 0, [])).toEqual({ callId: 'c1', opaque: signed.opaque })
    expect(receivedCall('c1', 0, thoughts)).toEqual({ callId: 'c1', opaque: thought.opaque })
    expect(receivedCall('c1', 1, thoughts)).toEqual({ callId: 'c1' })
    expect(receivedCall('c1', 0, [])).toEqual({ callId: 'c1' })
  })
})
