import type { BrowserContextOptions } from 'playwright'
import type { Json } from '#storage/index.ts'

/* The functions below return values that our own scripts, blobs and records produced as the type that was written. */

/** Parses JSON; undefined when it is invalid. */
export const parsedJson = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** Cookies and storage of a browser context. */
export type ProfileState = Exclude<BrowserContextOptions['storageState'], string | undefined>

/** Parses a profile's state that this server has encrypted. */
export const profileState = (text: string): ProfileState => JSON.parse(text) as ProfileState
