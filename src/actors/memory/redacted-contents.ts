import { redacted } from '#gateway/redaction/redacted.ts'
import type { RedactionPolicies } from '#gateway/redaction/redaction-policies.ts'
import type { RedactContents } from './memory-writer.ts'

const placeholder = /\[([A-Z][A-Z_]{1,40})_\d{1,6}\]/g

/** Redacts contents by the project's policy for requests, permanently: nothing restores the original values. */
export const redactedContents =
  (policies: Pick<RedactionPolicies, 'policyOf'>): RedactContents =>
  async (project, contents) => {
    const policy = await policies.policyOf(project)
    if (policy === null || !policy.input) return contents.map((content) => ({ content, redacted: [] }))
    const { texts } = await redacted(policy, contents)
    return contents.map((before, at) => {
      const content = texts[at] ?? before
      const kinds =
        content === before ? [] : [...content.matchAll(placeholder)].map(([, kind = '']) => kind.toLowerCase())
      return { content, redacted: [...new Set(kinds)] }
    })
  }
