import type { ScannedText, TextFinding } from '#actors/capability/text-scan.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ParseOwner } from '#src/parsing/parse-owner.ts'
import { ParserFailed, ParserPool } from '#src/parsing/parser-pool.ts'
import { archived, scanned, scannedTexts } from '../schema.ts'
import type { ScannedSkill } from './scanned-skill.ts'
import type { scannerTasks } from './scanner-tasks.ts'
import type { ArchivedFile } from './skill-archive.ts'

const limits = { deadlineMs: 10_000, maxHeapMb: 256, maxWaiting: 64 }

/** Opens and scans skills in a worker with a timeout, since their content is untrusted. */
export class SkillScanner {
  readonly #parser = new ParserPool<typeof scannerTasks>(limits, new URL('./scanner-worker.ts', import.meta.url))

  /**
   * Opens an archive.
   *
   * @throws {ServiceError} `invalid_field` with `param` for an archive that is not a skill; `overloaded`
   */
  async open(bytes: Uint8Array, param: string, owner?: ParseOwner): Promise<readonly ArchivedFile[]> {
    try {
      return archived(await this.#parser.parse('open', bytes, { owner }))
    } catch (error) {
      if (!(error instanceof ParserFailed)) throw error
      refuseBusy(error)
      const message = `The archive cannot be opened: ${error.message.slice(0, 400)}.`
      throw new ServiceError('invalid_field', { param, message, cause: error })
    }
  }

  /**
   * Scans a skill. A failed scan results in a blocker, since the content of the skill is then unknown.
   *
   * @throws {ServiceError} `overloaded` when too many scans wait, which says nothing about the skill
   */
  async scan(files: readonly ArchivedFile[], owner?: ParseOwner): Promise<ScannedSkill> {
    try {
      return scanned(await this.#parser.parse('scan', files, { owner }))
    } catch (error) {
      if (!(error instanceof ParserFailed)) throw error
      refuseBusy(error)
      const message = `The scan failed: ${error.message}.`
      const finding = { severity: 'blocker', code: 'scan_failed', path: 'SKILL.md', line: 1, message } as const
      return { findings: [finding], name: null, description: null, reading: { passages: [], isWhole: true } }
    }
  }

  /** Scans texts; findings are in their order. A failed scan is a warning of each. */
  async texts(texts: readonly ScannedText[], owner?: ParseOwner): Promise<readonly (readonly TextFinding[])[]> {
    try {
      return scannedTexts(await this.#parser.parse('texts', texts, { owner }))
    } catch (error) {
      if (!(error instanceof ParserFailed)) throw error
      const message = `The scan failed: ${error.message}.`
      return texts.map(() => [{ severity: 'warning', code: 'scan_failed', path: 'description', line: 1, message }])
    }
  }

  /** Stops the worker. */
  close(): Promise<void> {
    return this.#parser.close()
  }
}

/** @throws {ServiceError} `overloaded` when bytes were not read because too many others wait. */
function refuseBusy(error: ParserFailed): void {
  if (error.reason === 'busy') throw new ServiceError('overloaded', { retryAfterS: 1, cause: error })
}
