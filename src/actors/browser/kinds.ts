import type { BrowserJobContext, browserJobFields } from '#machines/browser-job/browser-job.ts'
import type { FieldsOf } from '#machines/row-fields.ts'
import type { Status } from '#specs/statuses.ts'
import type { AnyKind, Row, TypedKind } from '../records/schema.ts'

/** Data of a job's list row (`browserJobDefinition.row`). */
export type BrowserJobRowData = FieldsOf<typeof browserJobFields, BrowserJobContext> & {
  readonly status: Status<'browser_job'>
  readonly open: boolean
  readonly url: string
  readonly step_count: number
}

/** A job's list row. */
export type BrowserJobRow = Row<BrowserJobRowData>

/** List rows of jobs. */
export const browserJobRows: TypedKind<BrowserJobRowData> = { name: 'browser_jobs', filters: ['status', 'open'] }

export type BrowserProfileData = {
  /** Id of the tenant; '' for profiles of the project itself. */
  readonly owner: string
  readonly name: string
  readonly cookies: number
  /** Encrypted JSON of cookies and storage. */
  readonly sealed: string
}

/** Cookies and storage that jobs saved, encrypted for their project and id. */
export const browserProfileRows: TypedKind<BrowserProfileData> = {
  name: 'browser_profiles',
  unique: [{ fields: ['owner', 'name'] }],
  filters: ['owner'],
  unexported: ['sealed', 'owner'],
  sealed: [
    {
      field: 'sealed',
      aad: ({ project, id }) => profileAad(project, id),
      instead: null,
      sentTo: null,
      loss: 'cookies of a browser profile: let a job keep them again',
    },
  ],
  outbox: true,
}

/** Returns the additional authenticated data with which a profile is encrypted. */
export const profileAad = (project: string, id: string): string => `${project}|browser_profiles|${id}`

/** All kinds of this folder, for `RecordStore.prepare`. */
export const browserKinds: readonly AnyKind[] = [browserJobRows, browserProfileRows]
