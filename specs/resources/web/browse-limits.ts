/** Maximum number of actions of one job. */
export const maxActions = 20

/** Maximum length of a selector, in characters. */
export const maxSelectorLength = 1_000

/** Maximum length of a typed text, in characters. */
export const maxTypedLength = 10_000

/** Maximum duration of `waitFor`, in ms. */
export const maxWaitMs = 5_000

/** Time to wait for a person, in ms. */
export const handOverTimeoutMs = { min: 10_000, max: 900_000, default: 300_000 } as const

/** Maximum total time in ms for which a job waits for people, since it keeps its browser in the meantime. */
export const maxHandOverMs = 1_200_000

/** Maximum length of the instructions for a person, and of the person's note, in characters. */
export const maxHandOverText = 500

/** Timeout of the navigation, in ms. */
export const navigationTimeoutMs = { min: 5_000, max: 60_000, default: 30_000 } as const

/** Width of the viewport, in CSS pixels. */
export const viewportWidth = { min: 320, max: 2_560, default: 1_280 } as const
/** Height of the viewport, in CSS pixels. */
export const viewportHeight = { min: 240, max: 1_600, default: 800 } as const

/** Maximum number of tokens of an accessibility snapshot. */
export const snapshotTokens = { min: 50, max: 50_000, default: 4_000 } as const

/** Maximum number of waiting and running jobs of one project. */
export const maxOpenJobs = 100

/** Maximum number of profiles of one tenant, or of the project itself. */
export const maxProfiles = 100

/** Maximum size of a profile's cookies and storage, in bytes of JSON. */
export const maxProfileBytes = 256 * 1024

/**
 * Limits of people's input to the page of a job: events in a request, characters of a text, waiting events, waiting
 * characters, and events per second.
 */
export const liveInput = {
  maxEvents: 100,
  maxText: 10_000,
  maxWaiting: 400,
  maxWaitingText: 100_000,
  perSecond: 250,
} as const

/** Maximum number of readers of the live view of one job. */
export const maxViewers = 50
