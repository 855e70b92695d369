import type { Received, Sent } from '#test/transport/api/serving.ts'

type Send = (target: string, body?: unknown, sent?: Partial<Sent>) => Promise<Received>

/** A `fetch` for the official SDKs that calls a server without a socket. */
export const sdkFetch =
  (send: Send): typeof fetch =>
  async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const { method = 'GET', body } = init ?? {}
    const headers = Object.fromEntries(new Headers(init?.headers))
    const {
      status,
      headers: answered,
      text,
    } = await send(`${url.pathname}${url.search}`, body ?? undefined, { method, headers })
    return new Response(status === 204 ? null : text, { status, headers: { ...answered } })
  }
