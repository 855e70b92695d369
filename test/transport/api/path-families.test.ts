import { describe, expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import { PathFamilies } from '#transport/api/path-families.ts'

const families = new PathFamilies(Object.values(operations))
const envelope = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  families.envelopeFor({ path, header: (name) => headers[name] })

describe('the envelope of an unknown path', () => {
  it.each([
    ['/v1/messages/batches', 'anthropic'],
    ['/v1/messages/batches/msgbatch_1/results', 'anthropic'],
    ['/api/v1/messages/x', 'anthropic'],
    ['/v1/chat/completions/chatcmpl_1', 'openai'],
    ['/v1/responses/resp_1/none', 'openai'],
    ['/api/ai/chat/x', 'flat'],
    ['/api/ai/audio/none', 'flat'],
    ['/v1/audio/none', 'flat'],
    ['/api/v1/web/none', 'web'],
    ['/api/projects/prj_1/providers/x/none', 'custom_providers'],
    ['/v1/memory/a/b/c', 'memory'],
    ['/v1/none', 'platform'],
    ['/v1/tenants/ten_1/none', 'platform'],
    ['/none', 'platform'],
    ['/', 'platform'],
    ['', 'platform'],
    ['/v1/messages/%ff', 'anthropic'],
  ])('%s is %s', (path, expected) => {
    expect(envelope(path)).toBe(expected)
  })

  it('is that of the SDK that sends the request', () => {
    expect(envelope('/v1/files', { 'anthropic-version': '2023-06-01' })).toBe('anthropic')
    expect(envelope('/v1/audio/none', { 'x-stainless-lang': 'js' })).toBe('openai')
  })
})
