import { createServer } from 'node:net'
import { MongoAPIError, MongoNetworkError, MongoServerError } from 'mongodb'
import { describe, expect, it } from 'vitest'
import { asPortError } from '../../src/storage/mongo/trouble.ts'
import { StoreUnavailable } from '../../src/storage/ports.ts'

/** A system error as sockets have it. */
const socketError = async (): Promise<Error> => {
  const [one, other] = [createServer(), createServer()]
  await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve))
  const { port }: { port: number } = Object(one.address())
  const error = await new Promise<Error>((resolve) => other.once('error', resolve).listen(port, '127.0.0.1'))
  one.close()
  return error
}

describe('trouble with MongoDB', () => {
  it('is the store being away, also when the driver hands on the error of a broken connection', async () => {
    expect(asPortError(new MongoNetworkError('read ECONNRESET'))).toBeInstanceOf(StoreUnavailable)
    expect(asPortError(new MongoServerError({ code: 11_600, message: 'going down' }))).toBeInstanceOf(StoreUnavailable)
    expect(asPortError(await socketError())).toBeInstanceOf(StoreUnavailable)
  })

  it('is not a bug of ours', () => {
    for (const bug of [new TypeError('undefined'), new MongoAPIError('bad option'), 'text'])
      expect(asPortError(bug)).toBe(bug)
  })
})
