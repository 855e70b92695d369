import type { EffectCatalog } from '#runtime/index.ts'
import { type EraseParts, eraseActor } from '#runtime/internal.ts'
import { resumeJob } from '../handover/resume-job.ts'
import { type BrowseParts, browse } from './browse.ts'

/** Effects of the job machine, by `<machine>.<name>`. */
export const browserEffects = (parts: BrowseParts & EraseParts): EffectCatalog => ({
  'browser_job.browse': browse(parts),
  'browser_job.resumeJob': resumeJob(parts.handOvers),
  'browser_job.eraseBrowserJob': eraseActor(parts),
})
