/** Actions of one job. */
export const maxActions = 20

/** Length of a selector, in characters. */
export const maxSelectorLength = 1_000

/** Length of a text that is typed, in characters. */
export const maxTypedLength = 10_000

/** How long `waitFor` waits at most, in ms. */
export const maxWaitMs = 5_000

/** How long a person is waited for, in ms. */
export const handOverTimeoutMs = { min: 10_000, max: 900_000, default: 300_000 } as const

/** How long a job waits for people in all, in ms: it keeps its browser meanwhile. */
export const maxHandOverMs = 1_200_000

/** Length of what a person is to do, or says, in characters. */
export const maxHandOverText = 500

/** How long the navigation may take, in ms. */
export const navigationTimeoutMs = { min: 5_000, max: 60_000, default: 30_000 } as const

/** Size of the page's window, in CSS pixels. */
export const viewportWidth = { min: 320, max: 2_560, default: 1_280 } as const
/** Size of the page's window, in CSS pixels. */
export const viewportHeight = { min: 240, max: 1_600, default: 800 } as const

/** Tokens of an accessibility snapshot. */
export const snapshotTokens = { min: 50, max: 50_000, default: 4_000 } as const

/** Jobs of one project that wait or run. */
export const maxOpenJobs = 100

/** Profiles of one tenant, or of the project itself. */
export const maxProfiles = 100

/** Size of a profile's cookies and storage, in bytes of JSON. */
export const maxProfileBytes = 256 * 1024

/** What people may send to the page of a job at a time: things in a request, characters of a text, things and characters that wait, things a second. */
export const liveInput = {
  maxEvents: 100,
  maxText: 10_000,
  mostWaiting: 400,
  mostText: 100_000,
  perSecond: 250,
} as const

/** Readers of the live view of one job. */
export const maxViewers = 50
