import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { MessageBuffer } from '#outgoing/websocket/message-buffer.ts'

/** Memory in use, in bytes, after a full garbage collection. The second one waits for the threads of the first. */
const usedBytes = (): number => {
  setFlagsFromString('--expose-gc')
  for (let times = 0; times < 2; times++) runInNewContext('gc')()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

describe('a message in fragments', () => {
  it('is the joined payload of its fragments, also of empty ones', () => {
    const message = new MessageBuffer()
    for (const part of ['', 'one ', 'two ', '', 'three']) message.append(Buffer.from(part))
    expect([message.length, message.take().toString()]).toEqual([13, 'one two three'])
    expect([message.length, message.take().length]).toEqual([0, 0])
    message.append(Buffer.from('next'))
    expect(message.take().toString()).toBe('next')
  })

  it('does not change the bytes of its fragments', () => {
    const [first, second] = [Buffer.from('one'), Buffer.from('two')]
    const message = new MessageBuffer()
    message.append(first)
    message.append(second)
    message.take().fill('x')
    expect([first, second].map(String)).toEqual(['one', 'two'])
  })

  it('takes at most two bytes for each of its bytes, however short the fragments are', async () => {
    const bytes = 300_000
    const before = usedBytes()
    const message = new MessageBuffer()
    for (let n = 0; n < bytes; n++) message.append(Buffer.from('x'))
    await expect.poll(() => usedBytes() - before).toBeLessThan(2 * bytes + 500_000)
    expect(message.length).toBe(bytes)
  })
})
