import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTcpProxy, type TcpProxy } from '#scripts/chaos/tcp-proxy.ts'

let echo: Server
let port: number
let proxy: TcpProxy

const listen = async (at: number): Promise<void> => {
  echo = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.pipe(socket)
  })
  echo.listen(at, '127.0.0.1')
  await once(echo, 'listening')
  const address: { port: number } = Object(echo.address())
  port = address.port
}

beforeEach(async () => {
  await listen(0)
  proxy = await openTcpProxy(port)
})

afterEach(async () => {
  await proxy.close()
  echo.close()
})

const opened = () => {
  const socket = connect(proxy.port, '127.0.0.1')
  socket.on('error', () => socket.destroy())
  return socket
}

const closeOf = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => {
    socket.once('close', () => resolve(false))
  })

const echoes = async (text: string): Promise<boolean> => {
  const socket = opened()
  const heard = new Promise<boolean>((resolve) => {
    socket.once('data', (data) => resolve(String(data) === text))
  })
  socket.write(text)
  const answer = await Promise.race([heard, closeOf(socket)])
  socket.destroy()
  return answer
}

describe('a TCP proxy', () => {
  it('forwards bytes both ways', async () => {
    expect(await echoes('hello')).toBe(true)
  })

  it('closes its connections when it is cut, accepts none until it is healed, and then forwards again', async () => {
    const socket = opened()
    socket.write('a')
    await once(socket, 'data')
    expect(proxy.connections).toBe(1)
    const closed = closeOf(socket)
    proxy.cut()
    await closed
    expect(await echoes('b')).toBe(false)
    proxy.heal()
    expect(await echoes('c')).toBe(true)
  })

  it('closes connections while its target is down, and forwards once that is up again', async () => {
    echo.close()
    await once(echo, 'close')
    expect(await echoes('a')).toBe(false)
    await listen(port)
    expect(await echoes('b')).toBe(true)
  })
})
