import type { StreamKillOutcome } from './stream-kills.ts'

/** Longest time in ms from when a session can go on until its reader has the next delta. */
const nextDeltaMaxMs = 1500

/** Returns the report of a run, and whether it kept every promise. */
export const streamReport = (
  outcome: StreamKillOutcome,
): { readonly lines: readonly string[]; readonly isGood: boolean } => {
  const { kills, cut, problems, nextDeltaMs, fromKillMs, evidence } = outcome
  const count = (kind: string) => problems.filter((problem) => problem.kind === kind).length
  const late = nextDeltaMs.filter((ms) => ms > nextDeltaMaxMs).length
  return {
    isGood: problems.length === 0 && late === 0 && cut > 0,
    lines: [
      `${kills} kills, ${cut} streams cut: ${count('lost')} lost, ${count('doubled')} doubled, ${count('broken')} mixed or otherwise wrong`,
      `next delta after the session can go on: ${quantiles(nextDeltaMs)}; ${late} after more than ${nextDeltaMaxMs} ms`,
      `next delta after the kill: ${quantiles(fromKillMs)}`,
      ...(evidence === null ? [] : [`what was received and logged: ${evidence}`]),
    ],
  }
}

const quantiles = (sorted: readonly number[]): string => {
  const at = (part: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms (${sorted.length} readers)`
}
