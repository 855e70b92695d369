import type { PiiType } from '#specs/resources/gateway/redaction.ts'

/** A line and the personal data in it. */
export interface Labelled {
  readonly text: string
  readonly found: readonly { readonly type: PiiType; readonly value: string }[]
}

/** Personal data is marked as `«type|value»`; everything else must not be recognised. */
const lines = `
Write to «email|ada.lovelace@example.com» before noon.
My address is «email|j.doe+news@mail.example.co.uk».
«email|X_Y-Z%a@sub-domain.example.org» bounced.
Contact: <«email|support@firma.de»>, or the shop.
Mail an «email|jörg.müller@example.de» schicken.
Send it to «email|info@müller.example»!
"from":"«email|noreply@notifications.example.com»","to":"«email|bob@example.net»"
mailto:«email|sales@example.io»?subject=Hello
Both «email|a@b.co» and «email|c@d.museum» wrote.
(«email|first.last@example.travel»)
AdmissionRequest «email|o'neill@example.ie» about it.
email=«email|q@example.com»&x=1
User «email|12345@example.com» signed up.
Signed off by Linus «email|torvalds@osdl.example»
«email|MAX.MUSTERMANN@EXAMPLE.COM» WROTE
see «email|user@xn--bcher-kva.example» there
cc: «email|one@example.com»;«email|two@example.com»,«email|three@example.com»
the escaped line\\n«email|after.newline@example.com»\\nends
Call me at «phone|+1 415-555-2671».
Phone: «phone|(415) 555-2671»
tel «phone|415-555-2671» or «phone|415.555.2671»
Her number is «phone|+44 20 7946 0958».
Erreichbar unter «phone|+49 30 901820».
Tél. «phone|01 42 68 53 00» en journée
mobile: «phone|+33 6 12 34 56 78»
«phone|+91 98765 43210» on WhatsApp
«phone|+81-3-1234-5678» is the Tokyo office
phone «phone|4155552671»
Fax «phone|+4930901820»
You can text «phone|(212) 555-0199» anytime
«phone|1-800-555-0199» is toll free? no, «phone|800-555-0199» is
Dial «phone|0044 20 7946 0958» from abroad.
«phone|+55 11 91234-5678»
Ring us: «phone|+61 2 9374 4000», ask for Kim
reach him at «phone|+1 (650) 253-0000» (2024)
contact number «phone|020 7946 0958»
+ his other line «phone|+7 495 123-45-67»
cell: «phone|650 253 0000»
Handy «phone|0171 1234567», privat
«phone|+86 10 6552 9988» Beijing
«phone|+971 4 330 0000»
telephone «phone|555-0199-123»
{"phone":"«phone|+14155552671»"}
call «phone|617 555 0123» now
Pay with «payment_card|4111 1111 1111 1111», exp 12/27.
Card «payment_card|4111111111111111» was declined
amex «payment_card|3782 822463 10005»
AMEX:«payment_card|378282246310005»
mc «payment_card|5555-5555-5555-4444»
«payment_card|5105105105105100» cvv 123
Diners «payment_card|30569309025904»
«payment_card|6011 1111 1111 1117» is a Discover
JCB «payment_card|3530111333300000»
new series «payment_card|2223003122003222»
my visa is «payment_card|4012 8888 8888 1881» thanks
{"card":«payment_card|4242424242424242»,"name":"x"}
PAN=«payment_card|4000056655665556»;
UnionPay «payment_card|6200000000000005»
dots «payment_card|4111.1111.1111.1111» too
IBAN «iban|DE89 3704 0044 0532 0130 00» bitte
transfer to «iban|DE89370400440532013000» BIC COBADEFFXXX
«iban|GB82 WEST 1234 5698 7654 32» is the account
FR: «iban|FR14 2004 1010 0505 0001 3M02 606»
«iban|NL91ABNA0417164300», Amsterdam
«iban|CH93 0076 2011 6238 5295 7»
Konto «iban|AT611904300234573201»
«iban|ES91 2100 0418 4502 0005 1332» España
lower «iban|de89370400440532013000» works
«iban|BE68 5390 0754 7034» Bruxelles
«iban|PL61 1090 1014 0000 0712 1981 2874» Polska
«iban|IT60 X054 2811 1010 0000 0123 456»
SSN «us_ssn|123-45-6789»
her social security number is «us_ssn|219-09-9999».
ssn: «us_ssn|219099999»
Social Security «us_ssn|457 55 5462»
{"ssn":"«us_ssn|536-90-4399»"}
employee («us_ssn|001-01-0001»)
applicant «us_ssn|665-12-3456» approved
DNI «national_id|12345678Z»
NIE «national_id|X1234567L»
con DNI «national_id|12345678-Z» vive aquí
codice fiscale «national_id|RSSMRA85T10A562S»
CPF «national_id|529.982.247-25»
cpf: «national_id|52998224725»
Steuer-ID «national_id|86095742719»
Meine Steueridentifikationsnummer ist «national_id|86 095 742 719».
PESEL «national_id|44051401359»
BSN: «national_id|111222333»
Aadhaar «national_id|2341 2341 2346»
NHS number «national_id|943 476 5919»
NHS no. «national_id|9434765919»
NI number «national_id|AB123456C»
QQ 12 34 56 A is the form, «national_id|AB 12 34 56 C» a number
NIR «national_id|1 85 05 78 006 084 91»
numéro «national_id|255081416802538»
from «ip_address|203.0.113.42» at noon
client «ip_address|192.168.1.17» connected
host «ip_address|10.0.0.5»:8080 is up
[«ip_address|2001:db8:85a3::8a2e:370:7334»]:443
addr «ip_address|fe80::1ff:fe23:4567:890a» link
«ip_address|2001:0db8:85a3:0000:0000:8a2e:0370:7334» full
ping «ip_address|8.8.8.8», then «ip_address|1.1.1.1»
GET / from «ip_address|198.51.100.7» - 200
x-forwarded-for: «ip_address|203.0.113.195», «ip_address|70.41.3.18»
fe «ip_address|::ffff:192.0.2.128» mapped
{"ip":"«ip_address|172.16.254.1»"}
http://«ip_address|203.0.113.9»/index.html
postgres://«url_credentials|admin:hunter2»@db.example.com:5432/app
https://«url_credentials|user:p%40ss»@example.com/path
redis://«url_credentials|:s3cr3tpw»@cache.example:6379
git clone https://«url_credentials|oauth2:abcdef123456»@git.example.com/a/b.git
mongodb+srv://«url_credentials|root:toor»@cluster0.example.net/test
amqp://«url_credentials|guest:guest»@rabbit.example/vhost
OPENAI_API_KEY=«secret|sk-proj-Zq8wL2mN4pR6tV8xB0dF2hJ4kL6nP8rT»
key «secret|sk-ant-api03-Zq8wL2mN4pR6tV8xB0dF2hJ4kL6nP8rT-aa»
stripe «secret|sk_live_Zq8wL2mN4pR6tV8xB0dF2hJ4»
ours «secret|csk_Zq8wL2mN4pR6tV8xB0dF2hJ4kL6nP8rTZq8wL2mN4pR»
hook «secret|whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw»
token «secret|ghp_Zq8wL2mN4pR6tV8xB0dF2hJ4kL6nP8rTaBcD»
«secret|github_pat_11ABCDEFG0Zq8wL2mN4pR6tV8xB0dF2hJ4»
«secret|glpat-Zq8wL2mN4pR6tV8xB0dF»
aws «secret|AKIAIOSFODNN7EXAMPLE» id
maps «secret|AIzaSyZq8wL2mN4pR6tV8xB0dF2hJ4kL6nP8rTa»
slack «secret|xoxb-123456789012-abcdefGHIJKL»
«secret|npm_Zq8wL2mN4pR6tV8xB0dF2hJ4kL6nP8rTaBcD»
«secret|hf_Zq8wL2mN4pR6tV8xB0dF2hJ4kL6nP8rTaB»
groq «secret|gsk_Zq8wL2mN4pR6tV8xB0dF2hJ4kL6nP8rTaB»
jwt «secret|eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U»
Authorization: Bearer «secret|Zq8wL2mN4pR6tV8xB0dF2hJ4kL6nP8rT»
client token «secret|ect_eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl»
SG «secret|SG.Zq8wL2mN4pR6tV8xB0dF2h.J4kL6nP8rTZq8wL2mN4pR6tV8xB0dF»
Order 4829-1138-2204 shipped on 2025-11-21.
Order number 1234567890 is on its way.
order #415-555-0000 is a number of ours
Invoice 2025-000123 of 12.11.2025, due 2025-12-31
Ticket 555-123-4567 was closed
The meeting is at 10:30 on 2025-11-21, room 3.14.
Version 1.2.3.4 replaces v2.10.0.17
upgrade from version 10.0.22631.4460 to build 10.0.26100.1
npm i @types/node@22.19.1 react@19.2.0
docker pull registry.example.com/app@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
commit 3f786850e387550fdab836ed7e6dc881de23001b by the bot
md5 d41d8cd98f00b204e9800998ecf8427e
uuid 123e4567-e89b-12d3-a456-426614174000
id ses_01kb2x3y4z5a6b7c8d9e0f1g2h
created 1763745600, updated 1763745600123
"created":1763745600,"total_tokens":123456,"seed":987654321
logo@2x.png and icon@3x.webp
git@github.com:example/project.git
@media (min-width: 768px) and @import "a.css"
the decorator @app.route is nice, so is @Injectable()
5 @ 3 dollars
pi is 3.14159265358979, e is 2.718281828459045
population 8,019,876,189 in 2022
distance 384,400 km; mass 5.972e24 kg
1,234,567.89 EUR and 12.345.678,90 EUR
ISBN 978-3-16-148410-0
isbn 0-306-40615-2
EAN 4006381333931
the year 1984, 2001 and 2010
2025-11-21T17:18:46.123Z
21/11/2025 17:18:46
11-21-2025 at 5pm
range 1000-2000 or 10000 - 20000
16 digits that fail: 4111 1111 1111 1112
card ending in 1111
card ****-****-****-1111
x = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
0 1 1 2 3 5 8 13 21 34 55 89 144 233 377 610 987
coordinates 52.520008, 13.404954
lat/lon 40.7128 -74.0060
MAC 00:1B:44:11:3A:B7
time 12:34:56 and 23:59:59.999
C::B and std::vector<int>::iterator
a::b::c in Rust, Foo::bar() in PHP
127.0.0.1:3000 and ::1 and 0.0.0.0
netmask 255.255.255.0
section 3.2.1.4 of the report
OID 1.3.6.1.4.1.311.21.20
chapter 1.2.3.4: Numbers
phone numbers are not in this line
call 3 times
call it 42
call func(1, 2, 3)
sk-learn is a library, sk-12 is short
the token count is 1024
max_tokens: 4096, temperature: 0.7
hf_model and npm_config_registry
the word eyJ alone
AKIA is a prefix
Bearer tokens are described below
DE12 is not an account
room DE89 3704 is closed
DE88 3704 0044 0532 0130 00 has a wrong check
GB82 WEST 1234
SKU 123-45-6780 is a part
000-12-3456 and 666-12-3456 and 900-12-3456 are given to nobody
part no. 219-09-9990
12345678A has a wrong letter
RSSMRA85T10A562X has a wrong letter
529.982.247-26 has wrong digits
the bare 11144477735 may be anything
tracking 1Z999AA10123456784
tracking number 9400111899223100001234
flight LH 1234, gate B42, seat 17A
ticker ABC12345678
temperature 36.6, pulse 72, 120/80
ratio 16:9 at 1920x1080
port 8080, 443 and 27017
error 0x80070005 at 0x7fff5fbff8c0
#ff8800 and rgb(255, 136, 0)
base 64: aGVsbG8gd29ybGQ=
2^64 = 18446744073709551616
http://example.com:8080/path?a=1&b=2#frag
https://example.com/@user/post/1234567890
https://user@example.org.invalid.css
ssh -p 2222 host
regex \\d{3}-\\d{4}
lorem ipsum dolor sit amet
1. first 2. second 3. third 4. fourth
10.1000/182 is a doi
arXiv:2501.01234v2
RFC 9110, section 15.5.4
HTTP/1.1 200 OK
Windows NT 10.0; Win64; x64
AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36
4.5 stars from 12,345 reviews
Q3 2025: 1.234.567 units
license 12-3456789
EIN 12-3456789
ZIP 94105-1234
10115 Berlin, Unter den Linden 77
IPv4 has 4294967296 addresses
page 123-456
lines 100-2000 of file.ts:1234:5678
π ≈ 3.141592653589793238462643
9.99 USD x 1000000 = 9990000
[-0.0123456789,0.9876543210123456,-1.2345678901234567,4.1e-7] and «phone|+1 415-555-2671»
Hi, this is Maria («email|maria.lopez@correo.example.es»), my cell is «phone|305-555-0142» and home «phone|(786) 555-0199».
You can reach me on «phone|+49 (0)30 123456» or «phone|0049-171-5551234»
whatsapp «phone|+5215512345678»
my number's «phone|4155552671»
server «ip_address|10.1.2.3»/24, gateway «ip_address|10.1.2.1»
user=«email|alice@example.com»,phone=«phone|+33612345678»,ip=«ip_address|192.0.2.1»
export AWS_SECRET_ACCESS_KEY=«secret|wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»
jdbc:postgresql://db.example/app?user=bob&password=«secret|opensesame»
{"client_token": "«secret|a1b2c3d4e5f6g7h8i9»"}
Telefon «phone|089 - 1234 5678» oder «phone|212.555.0147» x12
card «payment_card|4000 0000 0000 0002» declined; «payment_card|4000-0000-0000-9995» insufficient
hotel 089 1234 and iPhone 15 Pro 2024-2025
paid 4155550000 in coins
Amazon order 114-3941689-8772232, UPS 1Z 999 AA1 01 2345 6784
VIN 1HGCM82633A004352, IMEI 490154203237518, LEI 5493001KJTIIGC8Y1R12
pip install foo==1.2.3.4 bar>=2.0.0.1
the secret: never say it; token: abcdefghijklmnopqrstuvwxyz
"prompt_tokens_details":{"cached_tokens":123456789012345}
passport C01X00T47, born 1985-05-12
2024-01-15 10:30:00,123 INFO [main] 12345 --- started in 4.567 seconds
email=«email|frank%40example.com»&x=1
<p>«email|judy&#64;example.org» or «email|leo&commat;example.org»</p>
write to «email|nina [at] example.com» or «email|peggy(at)example[dot]com»
«email|quentin\uff20example.com», «email|tr\u200bent@example.com»
_«email|zoe@example.com»_ and the markdown
我的邮箱是«email|zhang.wei@163.com»，谢谢
«email|संपर्क@उदाहरण.भारत»
Rufnummer: «phone|0171/1234567», Mobilnummer «phone|01511234567»
numéro de téléphone «phone|0612345678», mon numéro est le «phone|06 12 34 56 78»
mi móvil es «phone|612345678», meu número é «phone|(11) 91234-5678»
mobiel «phone|0612345678», tlf. «phone|22 12 34 56», puh. «phone|040 1234567»
telefonum «phone|0532 123 45 67», numer telefonu: «phone|601-123-456»
тел. «phone|8-916-123-45-67», τηλ. «phone|210 1234567»
我的手机号是«phone|13812345678»请联系
電話番号は«phone|090-1234-5678»です
전화번호는 «phone|010-1234-5678»입니다
هاتف «phone|\u0660\u0665\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667» טלפון: «phone|054-1234567»
«phone|+49\u201330\u2013901820» and «phone|+33\u202f1\u202f42\u202f68\u202f53\u202f00»
«phone|\uff0b\uff14\uff19 \uff13\uff10 \uff19\uff10\uff11\uff18\uff12\uff10»
card «payment_card|4242\u00a04242\u00a04242\u00a04242», exp 12/29
«payment_card|5555\u20115555\u20115555\u20114444» or «payment_card|6011  1111  1111  1117»
卡号«payment_card|4111111111111111»有效期
カード番号は«payment_card|4012 8888 8888 1881»です
«payment_card|\uff15\uff15\uff15\uff15\uff15\uff15\uff15\uff15\uff15\uff15\uff15\uff15\uff14\uff14\uff14\uff14»
one by one «payment_card|4 2 4 2 4 2 4 2 4 2 4 2 4 2 4 2» please
pan=«payment_card|6011%200009%209013%209424»&x
amex «payment_card|3782 8224 6310 005»
IBAN «iban|DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000»
IBAN«iban|GB29NWBK60161331926819» stuck to its word
«iban|UA213223130000026007233566001» of Ukraine
账号«iban|FR14 2004 1010 0505 0001 3M02 606»谢谢
«iban|NL91.ABNA.0417.1643.00» or «iban|CH 93 0076 2011 6238 5295 7»
<td>«iban|AT61&nbsp;1904&nbsp;3002&nbsp;3457&nbsp;3201»</td>
我的身份证是«national_id|440308199901101512»。
주민등록번호 «national_id|850101-1234568» 확인
個人番号：«national_id|123456789018»
AHV «national_id|756.9217.0769.85», hetu «national_id|131052-308T», NRIC «national_id|S1234567D»
personnummer «national_id|19811218-9876», cpr-nr. «national_id|0707614285», fnr: «national_id|290299 00157»
rijksregisternummer «national_id|85.07.30-033.28», BSN «national_id|111 222 333»
rodné číslo «national_id|780123/3540», TAJ «national_id|111 111 110», OIB «national_id|33392005961»
NIF «national_id|501964843», PPSN: «national_id|1234567FA», isikukood «national_id|37605030299»
ЕГН: «national_id|7523169263», СНИЛС «national_id|112-233-445 95», ИНН «national_id|500100732259»
TC kimlik no «national_id|10000000146», AMKA «national_id|01013099997», ת.ז. «national_id|123456782»
SIN «national_id|046 454 286», TFN «national_id|123 456 782», CURP «national_id|BADD110313HCMLNS09»
RUT «national_id|12.345.678-5», CUIT: «national_id|20123456786», cédula «national_id|1710034065»
South African ID «national_id|8001015009087», DNI: «national_id|12.345.678-Z»
from «ip_address|\uff12\uff10\uff13.0.113.7» 我的IP是«ip_address|203.0.113.7»。
postgres://«url_credentials|app:p@ss»@db.example/x
Passwort: «secret|Geheim123!», my password is «secret|Tr0ub4dor&3»
mot de passe : «secret|Soleil75!», пароль: «secret|Qwerty123!»
密码是«secret|abc12345!» PIN: «secret|4821»
{"user":"bob","password": "«secret|p4ssw0rd»"}
Authorization: Basic «secret|dXNlcm5hbWU6cGFzc3dvcmQxMjM=»
Cookie: «secret|session=9f8e7d6c5b4a39281706f5e4d3c2b1a0»
curl -u admin:«secret|s3cr3tpw» https://host.example
vault «secret|hvs.CAESIJaB3dE5gH7jK9mN1pQ3sT5vW7yZ9b»
AccountKey=«secret|Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq==»
«secret|dckr_pat_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9» and «secret|NRAK-AB3DE5GH7JK9MN1PQ3ST5VW7YZ9»
GSM «phone|0475 12 34 56», téléphone fixe : «phone|03.88.12.34.56», tlf «phone|32123456»
we reach 10000000 users, signal 20251130, call 12.11.2025
password: randomBytes(12).toString('hex'), password = Column(String(128))
the password: at least 8 characters, password: required!
"password":{"type":"string","minLength":8}
订单编号2025112100012345，第123456789号
2024年12月31日 12时30分，共1234567件
数量４５６７８件，型号ＡＢ１２３４
Basic understanding of networks, a basic questionnaire=
the cookie: chocolate, Cookie: none
4111/1111/1111/1112 and 2024/11/12/13/14/15
100%25 of 4%20 are 12%40 x
row 4 0 1 2 2 3 1 0 5 5 6 6 7 7 8 9 0 1
rows 47555937/43987110, 47555937_43987110
password: sha256(input), const password = hash256(pw)
{"pwd":"/home/dev1/shop"} OLDPWD=/srv/app2
if (at) node.remove(x); while (at) this.next(); f(at)-b.c, rows[at]items.x
"run_id": 123456785, pedido sin pagar: 604518373, nas 604518373
Avenida Paulista, CEP 01310-100
order number 240115-1000001, article no. A123456789
`
  .trim()
  .split('\n')

const mark = /«(\w+)\|([^»]*)»/g

/** The corpus: some three hundred lines that were written for this test. */
export const corpus = (types: readonly PiiType[]): readonly Labelled[] =>
  lines.map((line) => ({
    text: line.replace(mark, '$2'),
    found: Array.from(line.matchAll(mark), ([, name = '', value = '']) => {
      const type = types.find((each) => each === name)
      if (type === undefined) throw new Error(`no such type: ${name}`)
      return { type, value }
    }),
  }))
