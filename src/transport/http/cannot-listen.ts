import { createServer } from 'node:net'

/** A server cannot listen on its address; `message` is one sentence for the operator. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen'
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use. Stop the process that uses it, or set PORT to a free port',
  EACCES: 'this user may not use that port. Set PORT to a port above 1023',
  EADDRNOTAVAIL: 'this machine has no such address. Set HOST to one of its own, or to 0.0.0.0',
  ENOTFOUND: 'the host name is unknown. Set HOST to an address of this machine',
  EAI_AGAIN: 'the host name cannot be resolved. Set HOST to an address of this machine',
}

/** Explains in one sentence why a server cannot listen, from the error of node:net. */
export const cannotListen = (host: string, port: number, error: unknown): CannotListen => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const reason = reasons[code] ?? (error instanceof Error ? error.message : 'it is refused')
  return new CannotListen(`The server cannot listen on ${host}:${port}: ${reason}.`, { cause: error })
}

/** The same for a server whose library gives no reason: node:net finds it, unless the address is free again. */
export const whyNotListening = (host: string, port: number): Promise<CannotListen> =>
  new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', (error) => resolve(cannotListen(host, port, error)))
    probe.listen({ host, port, exclusive: true }, () =>
      probe.close(() => resolve(cannotListen(host, port, new Error('the address has just been taken. Try again')))),
    )
  })
