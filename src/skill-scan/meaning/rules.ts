import {
  acts,
  carriesAway,
  isDirect,
  isDuty,
  isPlainSecrecy,
  isRequired,
  isRisky,
  keepsQuiet,
  ownAct,
  runsAddress,
} from './predicates.ts'
import type { Reading } from './reading.ts'
import { isSigningIn, namesAccount, namesElsewhere, namesReferral, namesSecretPlace } from './values.ts'
import { isOnlyWorldly, isOwnChoice } from './worldly.ts'

/** A rule about what a sentence has a model do. */
export interface MeaningRule {
  readonly code: string
  readonly message: string
  /** Whether the sentence says so, with those around it in `around`. */
  readonly says: (sentence: Reading, around: Reading) => boolean
  /** Whether the act is to leave something undone, so that "do not" before it forbids nothing. */
  readonly isOmission?: boolean
}

/** Rules for what a text tells a model, by who does what to what: an act, a thing, and for whom. */
export const meaningRules: readonly MeaningRule[] = [
  {
    code: 'prompt_injection',
    message: 'The text tells a model to set aside its instructions.',
    says: (sentence) =>
      sentence.near('override', 'rules', 90) &&
      sentence.near('prior', 'rules', 40) &&
      !sentence.negated('override') &&
      !isOnlyWorldly('rules', sentence.text) &&
      !isOwnChoice(sentence.text) &&
      !(
        sentence.after('rules', 'foreign', 60) &&
        !/system|previous|prior|früher|vorherig|anterior|précédent|предыдущ|之前|以前|이전|السابق|पिछ/u.test(
          sentence.text,
        )
      ),
  },
  {
    code: 'prompt_injection',
    message: 'The text gives a model another identity without limits.',
    says: (sentence) =>
      sentence.has('model', 'unlimited') &&
      sentence.near('model', 'unlimited', 80) &&
      !sentence.negated('unlimited') &&
      !isOnlyWorldly('mode', sentence.text),
  },
  {
    code: 'hides_from_user',
    message: 'The text tells a model to keep something from its user.',
    isOmission: true,
    says: keepsQuiet,
  },
  {
    code: 'hides_from_user',
    message: 'The text tells a model to do something behind its user.',
    isOmission: true,
    says: (sentence) =>
      sentence.has('conceal') &&
      !sentence.negated('conceal') &&
      !isDuty(sentence, 'conceal') &&
      (sentence.has('user') || sentence.hasAny('personal', 'secrets')) &&
      (acts.some((act) => sentence.near('conceal', act, 90)) ||
        (sentence.near('conceal', 'user', 50) && ownAct.test(sentence.text) && isPlainSecrecy(sentence))),
  },
  {
    code: 'hides_from_user',
    message: 'The text tells a model to deceive its user.',
    isOmission: true,
    says: (sentence, around) =>
      sentence.has('pretend', 'user') &&
      !sentence.negated('pretend') &&
      !isDuty(sentence, 'conceal') &&
      (around.hasAny('conceal') || carriesAway(around) || namesSecretPlace(around) || around.has('pay', 'swap')),
  },
  {
    code: 'bypasses_approval',
    message: 'The text tells a model to pass over approvals or safeguards.',
    says: (sentence) =>
      !sentence.negated('skip') &&
      (sentence.near('skip', 'approval', 45) || sentence.near('skip', 'safety', 45)) &&
      isDirect(sentence) &&
      !isOnlyWorldly('safety', sentence.text),
  },
  {
    code: 'bypasses_approval',
    message: 'The text tells a model to act without leave.',
    isOmission: true,
    says: (sentence) =>
      sentence.has('unasked') &&
      isRisky(sentence) &&
      !isRequired(sentence) &&
      !/\btests?\b|\blint|\bformat(?:ter|ting)\b|\bread-only\b/u.test(sentence.text),
  },
  {
    code: 'bypasses_approval',
    message: 'The text takes for leave what is none.',
    says: (sentence) => sentence.has('assumed') && !sentence.negated('assumed') && isDirect(sentence),
  },
  {
    code: 'grants_access',
    message: "The text gives somebody else rights over what is the user's.",
    says: (sentence) =>
      sentence.hasAny('collect', 'swap', 'admit') &&
      sentence.has('admit') &&
      /(?<!\p{L})(?:make|grant|add|invite|give|share|set|assign|mach|füg|gib|erteil|lade|haz|añad|agreg|otorg|conced|da\b|fais|ajout|accord|donn|faça|adicion|dê\b|rendi|aggiung|conced|maak|voeg|geef|назнач|добав|предостав|дай|ekle|ver\b|yap\b)|添加|授予|设为|追加|付与|추가|부여|أضف|امنح|जोड़|दें/u.test(
        sentence.text,
      ) &&
      /\b[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,40}/u.test(sentence.text) &&
      !sentence.negated('admit'),
  },
  {
    code: 'redirects_links',
    message: 'The text leads links and addresses of the user to another place.',
    says: (sentence, around) =>
      sentence.near('swap', 'channel', 50) &&
      !/\bup(?:dat|grad)/u.test(sentence.text) &&
      !sentence.negated('swap') &&
      /\bours?\b|\bunser\w{0,2}\b|\bnuestr|\bnotre\b|\bnoss|\bnostr|\bonze?\b|наш|bizim|我们的|当社|弊社|우리|خاصتنا|हमार/u.test(
        sentence.text,
      ) &&
      namesElsewhere(around),
  },
  {
    code: 'bypasses_approval',
    message: 'The text claims that somebody has given leave already.',
    says: (sentence, around) =>
      sentence.has('granted') &&
      !sentence.negated('granted') &&
      sentence.hasAny('authority', 'user') &&
      sentence.hasAny('run', 'tool', 'pay', 'send', 'destroy', 'skip') &&
      around.hasAny('unasked', 'skip', 'override', 'conceal'),
  },
  {
    code: 'exfiltration',
    message: 'The text tells a model to send secrets to somewhere else.',
    says: (sentence, around) =>
      !sentence.negated('send') &&
      ((sentence.has('send', 'secrets') && namesElsewhere(sentence) && !isSigningIn(sentence)) ||
        (sentence.has('send') && namesElsewhere(sentence) && namesSecretPlace(around) && !isSigningIn(sentence))),
  },
  {
    code: 'exfiltration',
    message: 'The text tells a model to send what its user says or has to somewhere else.',
    says: (sentence) =>
      sentence.near('send', 'personal', 100) &&
      !sentence.negated('send') &&
      namesElsewhere(sentence) &&
      !isSigningIn(sentence) &&
      sentence.hasAny('standing', 'conceal', 'whole'),
  },
  {
    code: 'exfiltration',
    message: 'The text tells a model to put secrets where they are carried away.',
    says: (sentence, around) =>
      sentence.has('collect', 'channel') &&
      !sentence.negated('collect') &&
      (namesSecretPlace(sentence) ||
        (namesSecretPlace(around) && sentence.has('standing')) ||
        (sentence.has('personal', 'whole') &&
          namesElsewhere(sentence) &&
          /url|link|image|bild|imagen|lien|ссылк|картинк|链接|图片|リンク|画像|링크|이미지|رابط|صورة|लिंक|छवि/u.test(
            sentence.text,
          ))) &&
      !isSigningIn(sentence),
  },
  {
    code: 'shadows_tool',
    message: 'The text changes what other tools do.',
    says: (sentence) =>
      sentence.has('tool') &&
      sentence.hasAny('standing', 'other') &&
      sentence.hasAny('send', 'swap') &&
      !sentence.negated('send') &&
      (namesElsewhere(sentence) || sentence.has('account')) &&
      (sentence.near('tool', 'send', 90) || sentence.near('tool', 'swap', 90)),
  },
  {
    code: 'shadows_tool',
    message: 'The text puts itself in the place of other tools.',
    says: (sentence) =>
      sentence.has('tool', 'other') &&
      /\b(?:official|built-?in|native|original|real)\b|offiziell|oficial|officiel|ufficial|официальн|встроенн|resmi|yerleşik|官方|内置|公式|標準|공식|내장|الرسمي|المدمج|आधिकारिक|अंतर्निहित/u.test(
        sentence.text,
      ) &&
      (sentence.near('skip', 'tool', 50) ||
        sentence.near('override', 'tool', 50) ||
        sentence.after('not', 'tool', 50)) &&
      /\b(?:this|ours?|instead|only|here)\b|diese|statt|est[ea]\b|en su lugar|cett?e?\b|à la place|questo|invece|deze|эт\p{L}{1,3}|вместо|bu\b|yerine|本|此|这个|代わり|この|이 |대신|هذ[اه]|بدلا|यह|इस|बजाय/u.test(
        sentence.text,
      ),
  },
  {
    code: 'shadows_tool',
    message: 'The text talks a model out of other tools, so that this one is used.',
    says: (sentence, around) =>
      sentence.near('tool', 'discredit', 70) &&
      !/\b(?:if|when|once) (?:the|a|an|it|they)\b[^.]{0,60}\b(?:broken|locked|outdated)/u.test(sentence.text) &&
      (sentence.has('other') || /`[^`]{2,40}`/u.test(sentence.text)) &&
      around.hasAny('standing', 'pretend', 'override', 'swap') &&
      ((namesElsewhere(around) && around.has('standing')) ||
        around.has('conceal') ||
        around.near('override', 'tool', 60) ||
        around.has('pretend') ||
        around.near('not', 'tool', 30)),
  },
  {
    code: 'redirects_money',
    message: 'The text leads money to an account that nobody chose.',
    says: (sentence, around) =>
      !sentence.negated('swap') &&
      ((sentence.near('swap', 'account', 70) &&
        (namesAccount(around) ||
          (sentence.hasAny('standing', 'conceal') &&
            (!sentence.has('approval') || sentence.hasAny('unasked', 'skip'))) ||
          around.has('conceal'))) ||
        (sentence.has('pay') &&
          namesAccount(sentence) &&
          sentence.hasAny('standing', 'whole', 'swap', 'unasked', 'other'))),
  },
  {
    code: 'redirects_money',
    message: 'The text lets somebody earn from links or purchases of the user.',
    says: (sentence) =>
      namesReferral(sentence) &&
      sentence.has('standing') &&
      sentence.hasAny('collect', 'swap') &&
      sentence.hasAny('channel', 'account', 'pay'),
  },
  {
    code: 'remote_instructions',
    message: 'The text lets a model obey what stands at an address.',
    says: (sentence) =>
      sentence.hasAny('run', 'collect') &&
      sentence.has('obey') &&
      sentence.near('obey', 'rules', 60) &&
      namesElsewhere(sentence) &&
      /\b(?:fetch|download|retrieve|load|pull|get|read|curl)\b|lade|hol|descarg|obt[eé]n|télécharg|récup|baix|scarica|download|haal|скача|загруз|получ|indir|下载|获取|ダウンロード|取得|다운로드|가져오|حم[ّ]?ل|डाउनलोड/u.test(
        sentence.text,
      ),
  },
  {
    code: 'remote_instructions',
    message: 'The text lets a model obey whoever writes to some place.',
    says: (sentence, around) =>
      sentence.near('obey', 'rules', 70) &&
      !sentence.negated('obey') &&
      sentence.hasAny('whole', 'standing') &&
      (namesElsewhere(sentence) || (sentence.has('foreign', 'whole') && around.hasAny('override', 'conceal'))) &&
      around.hasAny('override', 'conceal', 'unasked', 'pretend'),
  },
  {
    code: 'remote_code',
    message: 'The text lets a model run code from an address.',
    says: (sentence, around) => sentence.has('run') && !sentence.negated('run') && runsAddress(sentence, around),
  },
  {
    code: 'destructive_instruction',
    message: 'The text tells a model to destroy what is not its own.',
    says: (sentence) =>
      sentence.has('destroy') &&
      !sentence.negated('destroy') &&
      sentence.hasAny('unasked', 'conceal') &&
      !isRequired(sentence) &&
      sentence.hasAny('whole', 'personal'),
  },
]
