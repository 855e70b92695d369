import { describe, expect, it } from 'vitest'
import type { ModelToolCall } from '#gateway/call/provider-port.ts'
import { signatureIn } from '#gateway/providers/tool-call-id.ts'
import { receivedCall, sentCallId, sentThoughts } from '#gateway/turns/carried.ts'

/** In the format of stored conversations, which must stay readable. */
const signed: ModelToolCall = { callId: 'c1', name: 'f', arguments: '{}', opaque: 'google:gemini-3.5-flash:c2ln' }
const thought: ModelToolCall = {
  ...{ callId: 'c1', name: 'f', arguments: '{}' },
  opaque: 'anthropic:[{"type":"thinking","thinking":"Hm.","signature":"c2ln"}]',
}
const plain: ModelToolCall = { callId: 'c1', name: 'f', arguments: '{}' }

describe('the opaque data that a provider expects with a tool call', () => {
  it('is sent in the call id for Google, valid for its own model', () => {
    expect(signatureIn(sentCallId(signed), 'gemini-3.5-flash')).toBe('c2ln')
    expect(signatureIn(sentCallId(signed), 'gemini-3.7-flash')).toBeNull()
    expect(sentThoughts([signed])).toBeNull()
  })

  it('is sent in thinking blocks for Anthropic', () => {
    expect(sentThoughts([thought, plain])).toEqual([{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }])
    expect(sentCallId(thought)).toBe('c1')
  })

  it('is absent for other providers', () => {
    expect([sentCallId(plain), sentThoughts([plain]), sentThoughts([])]).toEqual(['c1', null, null])
  })

  it('is stored as it was received', () => {
    const thoughts = [{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }]
    expect(receivedCall(sentCallId(signed), 0, [])).toEqual({ callId: 'c1', opaque: signed.opaque })
    expect(receivedCall('c1', 0, thoughts)).toEqual({ callId: 'c1', opaque: thought.opaque })
    expect(receivedCall('c1', 1, thoughts)).toEqual({ callId: 'c1' })
    expect(receivedCall('c1', 0, [])).toEqual({ callId: 'c1' })
  })
})
