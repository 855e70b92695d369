import type { Row } from './row.ts'

/** Times of a start with open commits, in ms from its beginning. */
export interface RecoveryTimes {
  /** Time until a server without open commits was ready. */
  readonly emptyMs: number
  readonly readyMs: number
  readonly turnMs: number
  /** 99th percentile of the times of reads during recovery. */
  readonly readMs: number
  readonly takenUpMs: number
}

/** Rows of one start, with their bounds. */
export const recoveryRows = (
  { store, open }: { readonly store: string; readonly open: number },
  times: RecoveryTimes,
): readonly Row[] => {
  const place = `${store}, ${open.toLocaleString('en-US')} open commits`
  const row = (measure: string, ours: number): Row => ({ measure: `${place}: ${measure}`, unit: 'ms', ours })
  return [
    {
      ...row('ready after', times.readyMs),
      against: { name: 'nothing open', value: times.emptyMs },
      bound: { of: 'ours', atMost: 2000 },
    },
    { ...row('first turn done after', times.turnMs), bound: { of: 'ours', atMost: 3000 } },
    { ...row('99 of 100 reads meanwhile', times.readMs), bound: { of: 'ours', atMost: 250 } },
    row('all taken up after', times.takenUpMs),
  ]
}
