import { describe, expect, it } from 'vitest'
import { partCount } from '#actors/sessions/input/part-count.ts'
import type { ModelMessage } from '#gateway/call/provider-port.ts'

const text = (content: string): ModelMessage => ({ role: 'user', content })
const image = (bytes: number): ModelMessage => ({
  role: 'user',
  content: '',
  parts: [{ type: 'input_image', bytes }, { type: 'input_text' }],
})

describe('the parts of a conversation', () => {
  it('are counted with their bytes, in a list that grows as in a new one', () => {
    const messages = [text('a')]
    expect(partCount(messages)).toMatchObject({ parts: 0, bytes: 0 })
    messages.push(image(100), text('b'), image(20))
    expect(partCount(messages)).toMatchObject({ parts: 4, bytes: 120 })
    messages.push(image(3))
    expect(partCount(messages)).toMatchObject({ parts: 6, bytes: 123 })
    expect(partCount([...messages])).toMatchObject({ parts: 6, bytes: 123 })
  })

  it('are counted again where another message is at the place of the last one', () => {
    const messages = [text('a'), image(100)]
    expect(partCount(messages)).toMatchObject({ parts: 2, bytes: 100 })
    messages[1] = text('b')
    expect(partCount(messages)).toMatchObject({ parts: 0, bytes: 0 })
  })

  it('are read once, however often a conversation that grows is counted', () => {
    let reads = 0
    const read = (): ModelMessage => ({
      role: 'user',
      content: '',
      get parts() {
        reads++
        return [{ type: 'input_text' }]
      },
    })
    const messages: ModelMessage[] = []
    for (let turn = 0; turn < 50; turn++) {
      messages.push(read())
      partCount(messages)
    }
    expect(reads).toBeLessThan(300)
  })
})
