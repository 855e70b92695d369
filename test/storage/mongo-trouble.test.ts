import { connect, createServer, type Socket } from 'node:net'
import { MongoAPIError, MongoNetworkError, MongoServerError } from 'mongodb'
import { describe, expect, it } from 'vitest'
import { asPortError } from '#storage/mongo/errors.ts'
import { StoreUnavailable } from '#storage/ports.ts'

/** Errors of a write to a socket after the other side, or this one, has ended the connection. */
const writeErrors = async (): Promise<readonly Error[]> => {
  const server = createServer((socket) => socket.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port }: { port: number } = Object(server.address())
  const failed = (end: (socket: Socket) => unknown) =>
    new Promise<Error>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', resolve).resume()
      socket.once('end', () => {
        end(socket)
        socket.write('x', (error) => error && resolve(error))
      })
    })
  const errors = await Promise.all([failed((socket) => socket.end()), failed((socket) => socket.destroy())])
  server.close()
  return errors
}

describe('an error of MongoDB', () => {
  it('means that the store is unavailable, also if it is the socket error of a broken connection', async () => {
    expect(asPortError(new MongoNetworkError('read ECONNRESET'))).toBeInstanceOf(StoreUnavailable)
    expect(asPortError(new MongoServerError({ code: 11_600, message: 'going down' }))).toBeInstanceOf(StoreUnavailable)
    for (const error of await writeErrors()) expect(asPortError(error), error.message).toBeInstanceOf(StoreUnavailable)
  })

  it('is passed on unchanged if it is a programming error', () => {
    for (const bug of [
      new TypeError('undefined'),
      new MongoAPIError('bad option'),
      'text',
      Object.assign(new Error(), { code: 'ERR_INVALID_ARG_TYPE' }),
    ])
      expect(asPortError(bug)).toBe(bug)
  })
})
