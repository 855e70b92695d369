import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Commit, StoredEvent } from '#storage/ports.ts'

/** One recorded step of an actor: the event with its data, and the commit with its snapshot. */
export interface RecordedStep {
  readonly event: StoredEvent
  /** The effect of which the event is the result (`done`), a part (`part`) or the start (`starts`). */
  readonly done?: string
  readonly part?: string
  readonly starts?: string
  readonly commit: Commit
}

/** The recorded steps of one actor under a released version of its machine. */
export interface History {
  /** `<machine>@<version>`. */
  readonly machine: string
  /** Name of the scenario, and the actor's number in it. */
  readonly name: string
  /** Values that its commits store separately, by hash. */
  readonly blobs: Readonly<Record<string, string>>
  readonly steps: readonly RecordedStep[]
}

/** Folder of the histories of all versions, with one subfolder per version. */
export const historiesFolder = resolve(import.meta.dirname, '../../test/fixtures/histories')

/** Reads every stored history of every version. */
export const readHistories = (): readonly History[] =>
  readdirSync(historiesFolder).flatMap((version) =>
    readdirSync(join(historiesFolder, version)).map((file): History => {
      return JSON.parse(readFileSync(join(historiesFolder, version, file), 'utf8'))
    }),
  )

/** Formats a history as its file, with one line per step, so that diffs show which steps changed. */
export const historyText = ({ machine, name, blobs, steps }: History): string => {
  const lines = steps.map((step) => JSON.stringify(step)).join(',\n')
  return `{"machine":${JSON.stringify(machine)},"name":${JSON.stringify(name)},"blobs":${JSON.stringify(blobs)},"steps":[\n${lines}\n]}\n`
}
