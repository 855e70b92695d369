import { secretPlaceIn } from '../commands/secret-places.ts'
import type { Reading } from './reading.ts'

const accountNumber =
  /\b[a-z]{2}\d{2}(?:[ -]?[a-z0-9]{4}){2,7}(?:[ -]?[a-z0-9]{1,4})?\b|\b0x[0-9a-f]{40}\b|\bbc1[a-z0-9]{25,60}\b|\b[13][a-z0-9]{25,34}\b|\bt[a-z0-9]{33}\b|\bpaypal\.me\/\w|\b\d{6,18}(?:-\d{1,4})?\b(?=[^\n]{0,40}(?:account|konto|cuenta|compte|conta|conto|rekening|сч[её]т|账|口座|계좌|حساب|खात|hesap))/u
const tagged =
  /[?&](?:tag|ref|aff|affiliate|via|partner|utm_\w{1,12}|referral|r)=[\w-]{2,40}|\b(?:tag|ref|code)\b[^.]{0,24}[`"'][\w-]{3,40}[`"']/u

/** Whether a sentence names the number of an account or of a wallet. */
export const namesAccount = ({ text }: Reading): boolean => accountNumber.test(text)

/** Whether a sentence names a mark by which somebody earns from a link. */
export const namesReferral = ({ text }: Reading): boolean => tagged.test(text)

/** Whether a sentence names a file of secrets. */
export const namesSecretPlace = ({ text }: Reading): boolean =>
  keyFiles.test(text) || secretPlaceIn(` ${text.replaceAll(/[`*]/gu, ' ')} `) !== undefined

const keyFiles =
  /(?:\b(?:all|any|every|alle|todos|tous|tutti)\b|все|所有|全部|すべて)[^.,;]{0,12}\.(?:pem|key|p12|pfx)(?!\w)/u

const own = /(?:\bhttps?:\/\/)?(?:localhost|127\.0\.0\.1|docs\.|developer\.|learn\.|help\.|support\.|example\.com\b)/u

/** Whether a sentence names a place elsewhere to which something may be sent. */
export const namesElsewhere = (reading: Reading): boolean => {
  const found = reading.destination()
  return found !== undefined && !own.test(found)
}

const recovery =
  /mother['’]s (?:maiden )?name|maiden name|name before marriage|first pet|street (?:they|you|he|she) grew up|security (?:questions?|answers?)|recovery (?:data|answers?|codes?|questions?|phrase)|social security number|mädchenname|erstes haustier|nombre de soltera|nom de jeune fille/u
const guarded =
  /\b(?:passwords?|pin codes?|card numbers?|security code|cvv|cvc|one-time codes?|2fa codes?)\b|passw[oö]rt|kartennummer|prüfnummer|contraseña|número de tarjeta|mot de passe|numéro de carte|senha|número do cartão|numero (?:di|della) carta|wachtwoord|парол|номер карты|şifre|密码|卡号|パスワード|カード番号|비밀번호|كلمة المرور|पासवर्ड/u
const asked =
  /\b(?:ask (?:them |the \w+ |people |for)|request|have (?:the \w+|them|him|her|people) (?:paste|type|enter|tell|give|write|send)|get (?:the \w+|them) to|prompt (?:the \w+ )?for|gather|collect|obtain|elicit)|\bbitte um|\bfrag|eingeben lassen|\bpide|\bsolicita|\bpregunta|\bdemande|\bpeça|\bsolicite|\bchiedi|\bvraag|запроси|попроси|\biste|要求|索取|询问|尋ね|入力させ|요청|اطلب|पूछ/u
const kept =
  /\b(?:webhook|endpoint|append|log(?:ged)?|file the|submit|send|post|write (?:it|them|these|this|each)|forward|record)\b|send|schick|trag|env[ií]|guard|envoi|enregistr|envi|salv|invia|stuur|отправ|запиш|gönder|发送|提交|记录|送信|記録|보내|기록|أرسل|भेज/u

/** Whether sentences ask a person for what lets into an account, and put it where somebody else has it. */
export const collectsLogins = (around: Reading): boolean =>
  asked.test(around.text) &&
  kept.test(around.text) &&
  ((recovery.test(around.text) && (namesElsewhere(around) || /webhook|endpoint/u.test(around.text))) ||
    (guarded.test(around.text) && namesElsewhere(around) && !isSigningIn(around)))

/** Whether a sentence names what lets into an account, and does not forbid it. */
export const guardsLogin = (sentence: Reading): boolean =>
  [recovery, guarded].some((login) => {
    const found = login.exec(sentence.text)
    return found !== null && !isForbidden(sentence, found.index, found.index + found[0].length)
  })

/** Whether a sentence says of a place in it that it is not to be: before it, or just after it. */
const isForbidden = (sentence: Reading, from: number, to: number): boolean =>
  sentence.spans('not').some(([start, end]) => (end <= from && from - end <= 40) || (start >= to && start - to <= 14))

const shared =
  /\b(?:public(?:ly)?|shared|gist|pastebin|everyone can (?:see|read))\b|öffentlich|geteilt|públic|compartid|se publica|publique|partagé|públic|pubblic|condivis|openba|gedeeld|публичн|общ(?:ий|ую|ей) |herkese açık|paylaşılan|公开|共享|公開|共有|공개|공유|عام|مشترك|सार्वजनिक/u

const contents =
  /\bcontents?\b|contenid|inhalt|contenu|conteúdo|contenut|inhoud|содержим|içeri|内容|中身|내용|محتوى|सामग्री/u

/** Whether a sentence has contents put where others see them. */
export const showsContent = (sentence: Reading): boolean => {
  const { text } = sentence
  const at = text.indexOf(secretPlaceIn(` ${text.replaceAll(/[`*]/gu, ' ')} `) ?? '')
  return (
    contents.test(text) &&
    !isForbidden(sentence, at, at) &&
    shared.test(text.replaceAll(/public (?:key|cert|half)/gu, ' '))
  )
}

const picture = /!\[[^\]\n]{0,200}\]\(\s{0,2}<?https?:\/\/[^\s)?]{1,300}\?[^\s)]{0,200}=/u
const encoding =
  /\bbase-?64\b|\b(?:url|uri|percent|hex)-?\s?encod|\bencod(?:ed|ing)\b|エンコード|编码|編碼|인코딩|kodier|codificad|encodé|codificat|gecodeerd|закодир|кодир|kodlan|مشف|ترميز/u
const carried =
  /\bmessages?\b|\bconversation\b|\bchat\b|\btext\b|\bcontents?\b|\bcontext\b|\bmail address\b|\bdocument\b|nachricht|gespräch|inhalt|mensaj|conversaci|contenido|conversation|contenu|mensagen|conteúdo|messagg|contenut|bericht|inhoud|сообщен|содержим|переписк|mesaj|içerik|本文|全文|内容|会話|对话|消息|메시지|본문|내용|رسائل|محتوى|संदेश/u

/** Whether sentences let a picture's address carry what was said, in a code. */
export const picturesCarry = ({ text }: Reading): boolean =>
  picture.test(text) && encoding.test(text) && carried.test(text.replace(picture, ' '))

const onTrial =
  /(?:restrict|limit|rules?\b|instruct|guard|confiden|privacy|(?:was|were|been) (?:said|told)|regeln|vertraulich|gesagt|einschränk|restriccion|límites|reglas|restrictions|limites|règles|restriç|regras|regole|limiti|beperking|regels|ограничен|правил|kısıtlama|限制|规则|制限|ルール|제한|규칙)[^.!?。！？]{0,80}(?:(?:was|were|are|is|galt(?:en)?|war(?:en)?|era|eran|étai\p{L}{1,3}|eram|erano|waren|gold(?:en)?) (?:only |just |merely |nur |solo |sólo |seulement |apenas |alleen |meant )?(?:for|für|para|pour|per|voor) (?:the |a |die |den |eine |la |el |le |il |de |testing |test)?\s?(?:tests?|testing|demo|trial|probe|prueba|essai|démo|teste|prova|proef|rehearsal|development)|测试用|演示用|テスト用|테스트용|для (?:теста|тестов|демо|пробы))/u

/** Whether a sentence says that what a model keeps to was only for a trial, as the reason for what it does now. */
export const callsRulesTrial = (sentence: Reading, around: Reading): boolean =>
  onTrial.test(sentence.text) &&
  (around.hasAny('override', 'conceal') ||
    ((around.near('not', 'tell', 24) || around.after('tell', 'not', 60)) && around.near('tell', 'user', 50)) ||
    namesSecretPlace(around))

const falsified =
  /\b(?:critical|high|severe|serious)\b[^.]{0,120}\b(?:described|reported|marked|listed|shown|labell?ed|counted|treated|rated|downgraded?|lowered)\b(?: \w{1,12}){0,2} (?:as|to) (?:\w{1,12} )?(?:informational|info|low|minor|none|negligible|resolved|harmless)|\bleave out (?:whatever|what|anything|everything) you (?:noticed|found|saw)|\b(?:write|say|answer|comment|report|reply) (?:only )?["'“][^"'”]{0,40}\b(?:no (?:security )?(?:findings|issues|vulnerabilities)|lgtm|looks good|approved)\b[^.]{0,80}\b(?:set|mark|turn)\b[^.]{0,30}\b(?:checks?|status|review|build)\b|(?:kritisch|schwerwiegend|crític|grave|critique|critic[oi]|kritiek|критич|严重|重大)[^.。]{0,80}(?:als|como|comme|come|как|为|として) ?(?:informati|gering|niedrig|bajo|leve|mineur|faible|basso|laag|низк|低|信息|軽微)/u

/** Whether a sentence has what a review found called better than it is. */
export const falsifiesReview = ({ text }: Reading): boolean =>
  falsified.test(text) &&
  !/\b(?:if|when|once|after|unless|until) (?:the |all |every |no )?(?:tests?|checks?|reviewer|owner|findings?)\b|\bnever\b|\bdo not\b/u.test(
    text,
  )

const planted =
  /\b(?:as (?:if|though)|like)\b[^.]{0,30}\b(?:the )?(?:user|owner|human|person|they|he|she)\b[^.]{0,24}\b(?:said|wrote|asked|typed|stated|decided|told)|als (?:hätte|ob)[^.]{0,40}(?:nutzer|benutzer|person)[^.]{0,24}(?:gesagt|geschrieben)|como si[^.]{0,30}(?:usuario|persona)[^.]{0,24}|comme si[^.]{0,30}(?:utilisat|personne)[^.]{0,24}|come se[^.]{0,30}utente|как будто[^.]{0,30}пользовател|(?:仿佛|好像|就像)[^。]{0,12}(?:用户|主人)[^。]{0,8}说|(?:ユーザー?|利用者)が(?:言った|書いた)(?:かの)?よう|사용자가 말한 것처럼/u

/** Whether a sentence puts words into the mouth of the user. */
export const speaksForUser = ({ text }: Reading): boolean =>
  planted.test(text) &&
  /\b(?:memor|entry|note|profile|preference|log)|eintrag|erinnerung|gedächtnis|memoria|nota|mémoire|entrée|voce|памят|запис|记忆|记录|メモ|記憶|기억|기록/u.test(
    text,
  )

const letIn =
  /\b(?:authenticat|authori[sz]ation|bearer|oauth|log ?in|sign ?in|header|x-api-key|client credentials|grant_type|anmeld|iniciar sesión|cabecera|en-tête|connexion|cabeçalho|intestazione|заголов|авториза)|请求头|ヘッダ|헤더|ترويسة/u

/** Whether a sentence is about being let in by a service, where keys belong. */
export const isSigningIn = ({ text }: Reading): boolean => letIn.test(text)
