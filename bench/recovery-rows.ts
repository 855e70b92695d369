import type { Row } from './row.ts'

/** What was measured of a start on open commits, in ms from its begin. */
export interface RecoveryTimes {
  /** Until it answered, of a start with nothing open. */
  readonly emptyMs: number
  readonly readyMs: number
  readonly turnMs: number
  /** Of 100 reads meanwhile, 99 took no longer. */
  readonly readMs: number
  readonly takenUpMs: number
}

/** The rows of one start, with what must hold. */
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
