import { isObject } from '#runtime/index.ts'
import type { SkillFinding } from '#src/skill-scan/index.ts'
import { reviewCodes } from './review-prompt.ts'

const maxFindings = 50
const longestReason = 400

/**
 * Returns the findings in a model's answer, of which nothing is trusted: unknown codes, severities and files are
 * replaced. Null when the answer is no review.
 */
export const readReview = (answer: string, paths: ReadonlySet<string>): readonly SkillFinding[] | null => {
  const parsed = parsedOf(answer)
  if (!isObject(parsed) || !Array.isArray(parsed.findings)) return null
  return parsed.findings.slice(0, maxFindings).flatMap((each) => (isObject(each) ? [findingOf(each, paths)] : []))
}

/** Parses the outermost object of an answer, which some models wrap in words. */
const parsedOf = (answer: string): unknown => {
  const [from, to] = [answer.indexOf('{'), answer.lastIndexOf('}')]
  if (from < 0 || to < from) return null
  try {
    return JSON.parse(answer.slice(from, to + 1))
  } catch {
    return null
  }
}

const findingOf = (
  { severity, code, path, line, reason }: Readonly<Record<string, unknown>>,
  paths: ReadonlySet<string>,
): SkillFinding => ({
  severity: severity === 'blocker' ? 'blocker' : 'warning',
  code: typeof code === 'string' && Object.hasOwn(reviewCodes, code) ? code : 'harmful_meaning',
  path: typeof path === 'string' && paths.has(path) ? path : 'SKILL.md',
  line: typeof line === 'number' && Number.isSafeInteger(line) && line > 0 ? line : 1,
  message: `Review by a model: ${shown(reason)}`,
})

/** Returns a reason without characters that a reader does not see. */
const shown = (reason: unknown): string =>
  typeof reason === 'string'
    ? reason.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]/gu, ' ').slice(0, longestReason)
    : 'no reason given.'
