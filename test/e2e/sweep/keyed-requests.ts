import type { Extra } from '../api.ts'

/** Header of a request with an Idempotency-Key. */
export const keyed = (key: string): Extra => ({ headers: { 'idempotency-key': key } })

/** Whether an answer is a replay of a recorded one. */
export const isReplay = ({ headers }: { readonly headers: Headers }): boolean =>
  headers.get('idempotent-replayed') === 'true'
