import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Commit, StoredEvent } from '#storage/ports.ts'

/** One step of an actor as it was made: the event with all that it said, and the commit with its snapshot. */
export interface RecordedStep {
  readonly event: StoredEvent
  /** The effect that the event is the result of, or a part of, or marks as begun. */
  readonly done?: string
  readonly part?: string
  readonly starts?: string
  readonly commit: Commit
}

/** The life of one actor under a released version of its machine. */
export interface History {
  /** `<machine>@<version>`. */
  readonly machine: string
  /** The scenario that it comes from, and its actor's number there. */
  readonly name: string
  /** Values that its commits keep outside, by hash. */
  readonly blobs: Readonly<Record<string, string>>
  readonly steps: readonly RecordedStep[]
}

/** Where the histories of all versions lie: a folder a version. */
export const historiesFolder = resolve(import.meta.dirname, '../../test/fixtures/histories')

/** Every history that is kept, of every version. */
export const readHistories = (): readonly History[] =>
  readdirSync(historiesFolder).flatMap((version) =>
    readdirSync(join(historiesFolder, version)).map((file): History => {
      return JSON.parse(readFileSync(join(historiesFolder, version, file), 'utf8'))
    }),
  )

/** A history as its file: a line a step, so that a change shows what it changed. */
export const historyText = ({ machine, name, blobs, steps }: History): string => {
  const lines = steps.map((step) => JSON.stringify(step)).join(',\n')
  return `{"machine":${JSON.stringify(machine)},"name":${JSON.stringify(name)},"blobs":${JSON.stringify(blobs)},"steps":[\n${lines}\n]}\n`
}
