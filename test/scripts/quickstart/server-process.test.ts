import { createServer } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { portNear } from '#scripts/quickstart/server-process.ts'

it('a port that is taken, or 0, becomes a free one', async () => {
  const other = createServer()
  onTestFinished(() => void other.close())
  await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve))
  const address = other.address()
  const taken = typeof address === 'object' && address !== null ? address.port : 0
  for (const wanted of [0, taken]) {
    const port = await portNear(wanted)
    expect(port).toBeGreaterThan(0)
    expect(port).not.toBe(taken)
  }
})
