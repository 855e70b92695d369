import type { Extra } from '../api.ts'

/** A request under an Idempotency-Key. */
export const keyed = (key: string): Extra => ({ headers: { 'idempotency-key': key } })

/** Whether an answer was given before. */
export const isReplay = ({ headers }: { readonly headers: Headers }): boolean =>
  headers.get('idempotent-replayed') === 'true'
