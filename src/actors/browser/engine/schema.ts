import type { BrowserContextOptions } from 'playwright'
import type { Json } from '#storage/ports.ts'

/*
 * What our own script read of a page, and what our own blobs and records hold, comes back as the type that was written.
 */

/** JSON that may be broken: undefined then. */
export const parsedJson = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** Cookies and storage that a browser gives and takes. */
export type ProfileState = Exclude<BrowserContextOptions['storageState'], string | undefined>

/** A profile's state, as this server sealed it. */
export const profileState = (text: string): ProfileState => JSON.parse(text) as ProfileState
