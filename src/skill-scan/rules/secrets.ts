import type { Rule } from '../finding.ts'

const rule = (message: string, pattern: RegExp, more: Partial<Rule> = {}): Rule => ({
  ...{ code: 'secret', severity: 'blocker', message, pattern, quotable: false },
  holds: (match) => !isPlaceholder(match[0]),
  ...more,
})

/** Whether a value is a placeholder of documentation: it says so, or has fewer than 12 distinct characters. */
const isPlaceholder = (text: string): boolean =>
  /example|sample|placeholder|your|xxxx|\*{3}|\.{3}|0000000|1234567|abcdef|deadbeef|test|dummy|fake|redacted|changeme|insert|replace|<|\$\{/iu.test(
    text,
  ) || new Set(text.toLowerCase()).size < 12

/** Keys and passwords in clear text, which every reader of the skill can see. */
export const secretRules: readonly Rule[] = [
  rule(
    'A private key stands in the text.',
    /-----BEGIN (?:[A-Z]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----\s{1,4}[A-Za-z0-9+/=\s:,-]{64}/gu,
    {
      holds: (match) => !/\.\.\.|x{4}|example/iu.test(match[0]),
    },
  ),
  rule('A key of AWS stands in the text.', /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/gu),
  rule(
    'A token of GitHub stands in the text.',
    /\b(?:gh[pousr]_[A-Za-z0-9]{36,80}|github_pat_[A-Za-z0-9_]{50,100})\b/gu,
  ),
  rule('A token of GitLab stands in the text.', /\bglpat-[A-Za-z0-9_-]{20,40}\b/gu),
  rule('A token of Slack stands in the text.', /\bxox[abprs]-[A-Za-z0-9-]{20,100}/gu),
  rule('A key of a model provider stands in the text.', /\bsk-(?:ant-|proj-|or-v1-|svcacct-)?[A-Za-z0-9_-]{32,200}/gu),
  rule('A key of Google stands in the text.', /\bAIza[A-Za-z0-9_-]{35}\b/gu),
  rule('A key of Stripe stands in the text.', /\b[sr]k_live_[A-Za-z0-9]{20,120}\b/gu),
  rule(
    'A token of a registry stands in the text.',
    /\b(?:npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,200}|hf_[A-Za-z0-9]{34})\b/gu,
  ),
  rule(
    'A signed token stands in the text.',
    /\beyJ[A-Za-z0-9_-]{16,400}\.eyJ[A-Za-z0-9_-]{16,800}\.[A-Za-z0-9_-]{20,400}/gu,
    { severity: 'warning' },
  ),
  rule(
    'An address carries a password.',
    /\b(?:postgres(?:ql)?|mysql|mongodb(?:\+srv)?|redis|amqps?|ftp|smtp):\/\/[\w.-]{1,40}:[^\s@/:'"`$<>{}]{6,80}@(?!localhost|127\.|example|host\b|db\b|postgres\b|mysql\b|redis\b|mongo\b)[\w.-]{4,100}/giu,
    {
      severity: 'warning',
      holds: (match) => !/:(?:pass(?:word)?|pwd|secret|user|changeme|example|mysecret\w*|your\w*)@/iu.test(match[0]),
    },
  ),
  rule(
    'A password stands in the text.',
    /\b(?:password|passwd|pwd|secret[_-]?key|api[_-]?key|auth[_-]?token|client[_-]?secret)["']?\s{0,2}[:=]\s{0,2}["'][A-Za-z0-9+/_!@#%^&*-]{16,100}["']/giu,
    { severity: 'warning' },
  ),
]
