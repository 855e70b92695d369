import { isInstaller, isRegistry } from '../commands/addresses.ts'
import type { Reading } from './reading.ts'
import { namesSecretPlace } from './values.ts'

/** What a text may do with an act that it names: "this", "that you", "the step". */
export const ownAct =
  /\b(?:this|that you|what you|about it|these|any of (?:it|this)|steps?|actions?|upload|transfer|request|change|calls?|command|script|sync|process|instructions?|skill|it)\b|(?<!\p{L})(?:dies\p{L}{0,2}|davon|das\b|darüber|schritt|befehl|esto|órden|orden|este|ello|paso|cela|ceci|ça\b|étape|ordres?\b|ces\b|en parle|isso|isto|este|passo|etapa|questo|ciò|passaggio|dit\b|deze|hiervan|stap|это\p{L}{0,2}|этом|шаг|bunu|bundan|bu (?:adım|işlem))|这|此|该|步骤|操作|これ|この|その|手順|操作|이 ?(?:것|단계|작업|사실)|이를|ذلك|هذا|هذه|الخطوة|यह|इस|इसे|इसके|चरण/u

/** Whether something that belongs to the user is sent. */
export const carriesAway = (reading: Reading): boolean =>
  reading.hasAny('send') && reading.hasAny('secrets', 'personal')

/** Acts that a model may do to somebody's harm. */
export const acts = ['send', 'run', 'swap', 'pay', 'skip', 'destroy'] as const

/** Whether a model is told not to speak of what it does. */
export const keepsQuiet = (sentence: Reading, around: Reading): boolean => {
  if ((!sentence.after('not', 'tell', 24) && !toldNot(sentence)) || isDuty(sentence, 'tell')) return false
  if (sentence.has('secrets') || !ownAct.test(sentence.text)) return false
  const isGrave =
    carriesAway(around) || namesSecretPlace(around) || around.has('conceal') || around.has('swap', 'account')
  if (!sentence.has('user')) return isGrave && sentence.text.length < 120 && isPlainSecrecy(sentence)
  return sentence.near('tell', 'user', 50) && (isPlainSecrecy(sentence) || isGrave)
}

const noActUntold =
  /(?:never|not|don['’]t|mustn['’]t|cannot|nicht|nie|niemals|kein\w{0,2}|nunca|jamás|no|n[’']\p{L}{1,20}|ne|não|non|niet|nooit|geen|не|никогда|нельзя)(?!\p{L})(?:(?!\b(?:and|but|just|simply|instead|then|und|sondern|y|sino|et|mais|e|mas|ma|en|maar)\b|(?<!\p{L})(?:и|а|но)(?!\p{L}))[^.,;:!?—–\n]){3,100},?\s(?:without|ohne|sin|sans|sem|senza|zonder|без)\s[^.,;:!?\n]{0,60}$/u

/** Whether telling is what the sentence requires: "don't … without telling the user". */
export const isDuty = (sentence: Reading, concept: 'tell' | 'conceal'): boolean =>
  sentence.has(concept) &&
  sentence.spans(concept).every(([from, to]) => noActUntold.test(sentence.text.slice(Math.max(0, from - 140), to)))

/** Whether a sentence says in words of its own that telling is forbidden, in languages where the verb comes first. */
const toldNot = (sentence: Reading): boolean =>
  (/[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af\u0900-\u097f]|[ışğ]/u.test(sentence.text) &&
    sentence.near('tell', 'not', 24)) ||
  (/(?<!\p{L})(?:nichts?|nie|niemals|kein\p{L}{0,2}|niet|nooit|niets)(?!\p{L})/u.test(sentence.text) &&
    sentence.after('tell', 'not', 60))

/** Whether secrecy is the point: the sentence is short, or speaks of the model's own steps. */
export const isPlainSecrecy = ({ text }: Reading): boolean => {
  const isStyle =
    /\b(?:jargon|tone|style|feel|apolog|internal (?:id|name|term)s?|raw|json|stack ?trace|technical|code)\b|\b(?:tell|ask|show) (?:the |your )?users? (?:how )?to\b/u.test(
      text,
    )
  return text.length < 160 && !isStyle
}

/** Whether a sentence tells somebody to do it, and does not describe that it may happen. */
export const isDirect = ({ text }: Reading): boolean =>
  !/\b(?:may|might|could|can be|would|attempts?|tries|try(?:ing)? to|if (?:someone|anyone|a user|the user)|unless|only (?:if|when|after)|cannot|can['’]t|flag|detect|report|check (?:for|that|whether)|look for|no one|nobody|must not|refuse)\b|versuch|könnte|wenn jemand|intent[ae]\b|podría|pourrait|tente|tenta\b|poderia|potrebbe|пыта|может|可能|试图|かもしれ|시도|قد |सकत/u.test(
    text,
  )

/** Whether an act is one that a person should decide on. */
export const isRisky = (sentence: Reading): boolean =>
  sentence.hasAny('pay', 'destroy') ||
  (sentence.has('send') && sentence.hasAny('whole', 'secrets', 'personal')) ||
  (sentence.has('run') &&
    (sentence.has('whole') ||
      /\bshell\b|\bcommands?\b|\bscripts?\b|\bsudo\b|befehl|skript|comando|script|commande|команд|скрипт|komut|命令|脚本|コマンド|スクリプト|명령|스크립트|الأوامر|أمر|कमांड|स्क्रिप्ट/u.test(
        sentence.text,
      ))) ||
  /\b(?:merge|push|deploy|publish|commit to main|force-push|sudo|grant)\b|\byes\b|"y"/u.test(sentence.text)

/** Whether leave is what the sentence requires: "never … without approval". */
export const isRequired = (sentence: Reading): boolean => {
  const { text } = sentence
  if (
    /^(?:[-*+•\d.) ]{0,6})?(?:never|do not|don['’]t|must not|niemals|nie(?!\p{L})|nunca|jamais|ne\b|não|non\b|mai\b|nooit|никогда|не(?!\p{L})|asla|不要|不得|切勿|禁止|لا )/u.test(
      text,
    ) &&
    !/\b(?:ask|wait|prompt|pause|frag|pregunt|demand|pergunt|chied|vraag|спраш|запраш)/u.test(text.slice(0, 40))
  )
    return true
  const [unasked] = sentence.spans('unasked')
  const before = text.slice(Math.max(0, (unasked?.[0] ?? 0) - 90), unasked?.[0] ?? 0)
  const rest = text.slice(unasked?.[1] ?? 0)
  const isUntil = text.slice(unasked?.[0] ?? 0).startsWith('未')
  const later = (isUntil ? rest.slice(0, 26) : /^[^、,，。.;；]{0,26}/u.exec(rest)?.[0]) ?? ''
  return (
    /(?<!\p{L})(?:never|not|don['’]t|no|nothing|cannot|nobody|nicht|nie|niemals|kein\w{0,2}|nunca|jamás|no|ne|n[’']|pas|jamais|rien|não|nada|nunca|non|mai|niente|niet|nooit|niets|не|никогда|ничего|нельзя)(?!\p{L})/u.test(
      before,
    ) ||
    /ない|なら|禁止|ません|지 (?:마|않)|न करें|मत |नहीं|不得|不能|不要|ma(?:yın|z)?\b|me(?:yin|z)?\b/u.test(
      /[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af\u0900-\u097f]|ı|ş|ğ/u.test(text) ? later : '',
    )
  )
}

const program =
  /^https?:\/\/[^/\s]{1,253}\/\S{0,400}\.(?:sh|py|ps1|exe|bat|bin|js|mjs|pkg|dmg|msi|deb|rpm|appimage|run|jar|whl|tgz|zip|tar\.gz)\b/u
/** Whether what is run is a program at an address. */
export const runsAddress = (sentence: Reading, around: Reading): boolean => {
  const address = sentence.destination() ?? around.destination()
  if (address === undefined || !program.test(address)) return false
  if (isInstaller(address) || isRegistry(address) || /github\.com\/[^\s]{1,200}\/releases/u.test(address)) return false
  const loads =
    /\b(?:download|fetch|curl|wget|get|grab|pull)\b|lade|hol|descarg|télécharg|baix|scarica|haal|скача|загруз|indir|下载|ダウンロード|다운로드|حم[ّ]?ل|डाउनलोड/u.test(
      around.text,
    )
  const starts =
    /\b(?:run|execut|launch|start|pipe|chmod|open it|double-?click|install)\b|führ|starte|ausführ|ejecut|exécut|lance|execut|rode|esegu|avvia|voer|start|выполн|запус|çalıştır|执行|运行|実行|실행|نف[ّ]?ذ|شغ[ّ]?ل|चला/u.test(
      around.text,
    )
  return loads && starts && sentence.text.length > 0
}
