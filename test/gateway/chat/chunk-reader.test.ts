import { expect, it } from 'vitest'
import { ChunkReader } from '#gateway/chat/chunk-reader.ts'
import { OpenAiDecoder } from '#gateway/chat/openai-decoder.ts'

it.each(['content', 'reasoning', 'reasoning_content', 'refusal'])(
  'an answer that breaks off is charged for its %s so far',
  (field) => {
    const options = { hidesUsage: false, restorer: null }
    const reader = new ChunkReader({ chunk: () => true }, new OpenAiDecoder(), options)
    const chunk = { id: 'c', model: 'm', choices: [{ index: 0, delta: { [field]: 'a'.repeat(400) } }] }
    reader.push(Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`))
    expect(reader.tokensSoFar).toBe(100)
  },
)
