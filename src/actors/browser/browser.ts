import { availableParallelism } from 'node:os'
import { browserJobDefinition } from '#machines/browser-job/browser-job-definition.ts'
import { browserJobs } from '#specs/resources/web/browse.ts'
import { browserProfiles } from '#specs/resources/web/browser-profiles.ts'
import { agentResources } from '../capability/agent-resources.ts'
import { capability } from '../capability/capability.ts'
import { pageRenderer } from '../capability/page-renderer.ts'
import { Port } from '../capability/port.ts'
import { agentBrowser } from './agents/agent-browser.ts'
import { ChromiumMissing, findChromium } from './engine/find-chromium.ts'
import { visit } from './engine/visit.ts'
import { VisitFailed } from './engine/visit-failed.ts'
import { handOverUseCases } from './handover/hand-over-use-cases.ts'
import { HandOvers, handOverLimits } from './handover/hand-overs.ts'
import { browserEffects } from './jobs/browser-effects.ts'
import { openBrowserPool, poolLimits } from './jobs/browser-pool.ts'
import { JobBlobs } from './jobs/job-blobs.ts'
import { jobUseCases } from './jobs/job-use-cases.ts'
import { browserJobRows, browserKinds } from './kinds.ts'
import { BrowserProfiles } from './profiles/browser-profiles.ts'
import { profileUseCases } from './profiles/profile-use-cases.ts'
import { rendererOf } from './render/render-page.ts'

/** Settings of the browsers on this machine. */
export interface BrowserSettings {
  /** CHROMIUM_PATH; null: a Chromium is searched for. */
  readonly path: string | null
  /** Maximum number of browsers at a time; null: one more than there are processors. */
  readonly atOnce: number | null
  /** Memory limit of one job's browser, in bytes. */
  readonly maxMemoryBytes: number
}

export const browserSettingsPort = new Port<BrowserSettings>('the settings of browsers')

/** 1 GiB. */
export const defaultJobMemoryBytes = 1024 * 1024 * 1024
/** Maximum number of bytes that one job's browser may download. */
const maxLoadedBytes = 200 * 1024 * 1024

/** Browser jobs, which open a page in a browser, act on it and read it. */
export const browser = capability({
  name: 'browser',
  operations: { ...browserJobs, ...browserProfiles },
  kinds: browserKinds,
  machines: [{ definition: browserJobDefinition, rows: browserJobRows }],
  open: (services) => {
    const { host, storage, guard, now, log, clock } = services
    const settings = browserSettingsPort.of(services)
    const blobs = new JobBlobs(storage.blobs)
    const profiles = new BrowserProfiles(services)
    const places = poolLimits(settings.atOnce, availableParallelism())
    const pool = openBrowserPool(places)
    const handOvers = new HandOvers(handOverLimits(places.atOnce))
    const path = () => findChromium(settings.path)
    const limits = { maxMemoryBytes: settings.maxMemoryBytes, maxBytes: maxLoadedBytes }
    const visits = { guard: guard.content, path: () => path().catch(unavailable), limits, now }
    pageRenderer.give(services, rendererOf({ ...visits, pool }))
    agentResources.give(services, agentBrowser({ host, storage, blobs, guard: guard.content, path, now, clock }))
    return {
      useCases: {
        ...jobUseCases({ host, storage, blobs, guard: guard.content, path, now }),
        ...handOverUseCases({ host, blobs, log, now }),
        ...profileUseCases(profiles),
      },
      effects: {
        ...browserEffects({
          ...{ storage, host, clock, pool, handOvers, blobs, profiles, now, log },
          visit: (request) => visit(visits, request),
        }),
      },
    }
  },
})

const unavailable = (error: unknown): never => {
  if (error instanceof ChromiumMissing) throw new VisitFailed('browser_unavailable', error.message, error)
  throw error
}
