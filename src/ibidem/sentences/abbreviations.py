"""Abbreviations and frequent openers of sentences, by language, and the table that the splitter looks them up in.

Categories (words are written without their last period, in lower case):
- before: a name or a word follows ("Dr. Weiss"), so the period never ends a sentence;
- number: no end if a number follows ("No. 5", "p. 12");
- after: the end of a sentence only if an opener follows ("Weiss & Co. They …");
- ordinal: German nouns and months that follow the period of an ordinal ("3. Oktober");
- openers: words that sentences often start with;
- clauses: openers that no other language has as a word, so that they also open a sentence in lower case ("no idea. they …");
- whole: short words that sentences often end with and that abbreviate nothing, so that one in lower case may follow.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.hashes import FACTOR, SEED
from ibidem.config.surface import named
from ibidem.errors import SettingsError

CATEGORIES = ("before", "number", "after", "openers", "ordinal", "clauses", "whole")
BITS = BEFORE, NUMBER, AFTER, OPENER_WORD, ORDINAL, CLAUSE, WHOLE = 1, 2, 4, 8, 16, 32, 64

_N_SLOTS = 8192
_ALL_BITS = (1 << 64) - 1

LANGUAGES: dict[str, dict[str, str]] = {
    "en": {
        "before": "mr mrs ms messrs mmes dr drs prof profs gen col lt maj capt cmdr sgt cpl pvt adm brig gov sen rep"
        " reps sens pres rev revd fr hon supt insp pfc e.g i.e eg ie cf viz vs approx mt ste p.s ps",
        "number": "no nos nr p pp pg pgs ch chap chs sec sect sects fig figs eq eqs eqn tab vol vols art arts par"
        " para ver ed eds op ex exs ref refs app appx cl col line lines jan feb mar apr jun jul aug sep sept"
        " oct nov dec n° nº № rev ca circa c approx tel ext box rm apt suite pt pts bk lib cap v vv item"
        " note nt ser ph pop mon tue tues wed thu thur thurs fri sat sun",
        "after": "co cos inc ltd corp llc plc bros jr sr esq etc al st ave blvd rd hwy sq dept dist univ assn assoc"
        " govt intl mfg mgr natl mon wed fri a.m p.m ph.d m.d u.s u.s.a u.k e.u u.n conn calif ariz colo fla ky mich"
        " minn mont nev okla penn tenn tex vt wis wyo ala min hr hrs sec secs lb lbs oz ft yd yds mph tue tues"
        " thur thurs a.k.a d.c l.a n.y b.c a.d c.e b.c.e ibid cit loc",
        "openers": "the it he she they we you i this that these those there here how what when where who whom whose"
        " why which did do does is are was were will would can could should may might must has have had in"
        " on at by for from with without as if although though because since while after before until once"
        " during but and or so yet nor not no yes a an all any each every some many most more much few"
        " several another other both either neither one two three first second however moreover therefore"
        " thus hence then also instead meanwhile furthermore nevertheless finally my your his her its our"
        " their let please see note according despite even just now today yesterday tomorrow to of under"
        " over about such only perhaps maybe don isn doesn didn aren wasn weren",
        "clauses": "i you he she it they the this that these those there their your our its what when where who why how and"
        " but because if then maybe please just could would should does did not ive dont cant thats",
        "whole": "it no me us him you her them up out off now then there here too so well back down again good bad best"
        " great nice cool fun bit lot lots way day days week night year car cars dog dogs cat cats man men guy guys kid kids"
        " boy girl girls mom dad son home house room food meal work works job jobs town road door book books game"
        " mean know need want find"
        " help tell said told think went left got done gone seen been was did does have had can will hard fast last past long"
        " loud clean cold hot old new sick mad sad weird worth fit right rest that this what all both ever soon much such"
        " as is are asap lol lmao omg haha tho thx thanks plz pls drive drink drinks",
    },
    "de": {
        "before": "fa hr hrn fr frl dr prof dipl ing bzw z.b z.t d.h u.a v.a i.d.r i.a s.a vgl bspw ggf ggfs evtl"
        " inkl exkl sog ehem geb gest verh zzgl abzgl einschl ausschl insb insbes betr bez d.i u.u z.zt st"
        " hl allg angebl ursprgl eigtl ca",
        "number": "nr nrn s abb abs art bd bde kap tab taf ziff anm aufl ausg fn rn rdnr rz hs vers str tel fax bl sp"
        " abschn jan feb mär mrz apr jun jul aug sep sept okt nov dez par jg h nro buchst lfd ssp mind az",
        "after": "usw usf etc u.v.m u.ä u.s.w o.g o.ä m.w u.dgl dgl co gmbh kg str tsd mio mrd mill std min sek jh"
        " jhd jhdt v.chr n.chr bd a.d ff f d.j a.a.o ebd ebda ags gegr verf hrsg hg übers dt engl frz lat"
        " griech österr schweiz gem mag",
        "openers": "der die das den dem des ein eine einer eines einem einen er sie es wir ihr ich du man dies diese"
        " dieser dieses diesem diesen hier dort da dann wenn weil als ob obwohl nachdem bevor während wie"
        " was wer wo warum wann welche welcher und aber oder doch denn auch so nur noch nun jetzt heute"
        " gestern in im am an auf aus bei mit nach seit von vor zu zum zur für durch gegen ohne um über"
        " unter zwischen trotz wegen sein seine ihre mein meine unser unsere alle viele einige mehrere keine"
        " kein nicht damit daher deshalb außerdem allerdings jedoch dabei dazu danach ist sind war waren hat"
        " haben wird werden kann können soll sollte muss",
        "ordinal": "januar jänner februar märz april mai juni juli august september oktober november dezember"
        " jahrhundert jahrhunderts jahrtausend weltkrieg weltkriegs auflage kapitel klasse platz bundesliga"
        " armee division jh jhd etage stock geburtstag jahrestag todestag sitzung wahlperiode"
        " legislaturperiode runde spieltag strophe akt szene",
    },
    "fr": {
        "before": "mm mme mmes mlle mlles mgr dr st ste sts stes cf p.ex c.-à-d c.à.d hab boul resp vs n.d.l.r",
        "number": "n no nos p pp art al chap fig t vol liv § par tab ann janv févr fév avr juil sept oct nov déc réf"
        " tél éd coll ch sect num av fol",
        "after": "av etc cie sté s.a s.a.r.l s.n.c.f j.-c ibid op cit apr dép min sec pr",
        "openers": "le la les l un une des du de d il elle ils elles on nous vous je j tu ce cet cette ces c ça cela"
        " ceci qui que qu quoi quand où comment pourquoi quel quelle et mais ou donc or ni car si comme"
        " lorsque puisque dans en à au aux par pour avec sans sous sur selon depuis pendant après avant chez"
        " entre malgré son sa ses leur leurs notre nos mon ma mes votre vos tout tous toute toutes plusieurs"
        " certains chaque aucun y n ne est ainsi alors puis ensuite enfin cependant toutefois pourtant aussi",
    },
    "es": {
        "before": "sr sra sres sras srta dña dn dr dra drs prof profa ing lic arq gral cnel tte sto p.ej ej vs cf"
        " excmo excma ilmo ud uds vd vds avda aprox",
        "number": "núm num nº n° no pág págs pag art arts cap fig figs vol t tomo párr ene feb mar abr may jun jul"
        " ago sep sept oct nov dic tel ed apdo p pp ref",
        "after": "etc s.a s.l cía cia ee.uu ee uu a.c d.c ltda hnos jr ibíd ibid op cit aa.vv",
        "openers": "el la los las un una unos unas lo él ella ellos ellas nosotros ustedes usted yo tú este esta estos"
        " estas ese esa esos esas aquel aquella esto eso qué quién cuándo dónde cómo cuál por que y e o u"
        " pero sino si cuando donde como aunque porque mientras en a al de del con sin para desde hasta"
        " entre sobre tras según durante su sus mi mis nuestro nuestra todo todos todas muchos algunos cada"
        " otro otra no sí se es son fue era ha han hay está además también entonces luego después antes hoy"
        " ayer ahora",
    },
    "it": {
        "before": "sig sigg sig.ra sig.na dott dr prof prof.ssa dott.ssa ing avv geom sen mons gen col p.es cfr vs"
        " v.le c.so p.za p.zza spett egr gent",
        "number": "n nn num pag pagg p pp art artt cap capp fig figg vol voll tab sez par gen feb mar apr mag giu lug"
        " ago set sett ott nov dic tel ed rif",
        "after": "ecc etc s.p.a s.r.l s.n.c a.c d.c ca ibid op cit",
        "openers": "il lo la i gli le un uno una l egli ella lui lei loro noi voi io tu questo questa questi queste"
        " quello quella quelli chi che cosa quando dove come perché quale e ma o se anche mentre dopo prima"
        " nel nella nei nelle in a al alla di del della da dal dalla con su per tra fra senza secondo suo"
        " sua suoi sue mio mia nostro nostra tutto tutti ogni alcuni molti non è sono era ha hanno si ci"
        " così poi infine però inoltre oggi ieri",
    },
    "pt": {
        "before": "sr sra srs sras srta dr dra drs dras prof profa eng arq exmo exma ilmo p.ex cf vs trav pça cel gen sto",
        "number": "n nº n° núm num pág págs pag p pp art arts cap fig vol tab séc jan fev mar abr mai jun jul ago set"
        " out nov dez tel ed inc",
        "after": "etc ltda s.a cia jr e.u.a eua a.c d.c ibid op cit",
        "openers": "o a os as um uma uns umas ele ela eles elas nós você vocês eu este esta estes estas esse essa isso"
        " isto aquele aquela quem quando onde como qual e mas ou se embora enquanto em no na nos nas de do"
        " da dos das com sem para por pelo pela desde até entre sobre segundo seu sua seus suas meu minha"
        " nosso nossa todo todos toda todas muitos alguns cada outro outra não sim é são foi era há está"
        " também além então depois antes hoje ontem agora",
    },
    "nl": {
        "before": "dhr mevr dr drs prof ing ir mr ds st bijv bv d.w.z o.a m.a.w t.a.v i.p.v m.b.t o.l.v t.o.v z.g"
        " resp ca vgl zgn jl incl excl evt",
        "number": "nr nrs blz pag p art afb fig hfst deel dl tab jan febr feb mrt apr jun jul aug sept sep okt nov dec tel vol",
        "after": "enz etc e.d e.a n.v b.v v.chr n.chr a.s",
        "openers": "de het een hij zij ze wij we jij je u ik dit dat deze die er hier daar wie wat waar wanneer waarom"
        " hoe welke en maar of want als toen omdat hoewel terwijl in op aan bij met na naar van voor door"
        " over uit tot tegen zonder tijdens zijn haar hun mijn ons onze alle veel sommige elke geen niet ook"
        " dan nu toch daarom daarna is was waren heeft",
    },
    "ru": {
        "before": "т.е т.к т.н т.о г-н г-жа гр им св проф акад доц канд тов ул пр просп пер пл наб бул пос дер обл"
        " р-н напр см ср зам зав",
        "number": "с стр гл рис табл п пп ст т тт вып № кн ч янв фев февр мар апр авг сен сент окт ноя нояб дек тел д"
        " кв корп ок разд прим",
        "after": "т.д т.п др г гг в вв н.э до.н.э руб коп тыс млн млрд чел кг км мин сек и.о р долл экз",
        "openers": "он она оно они мы вы я ты это этот эта эти тот та те там здесь кто что где когда как почему какой"
        " и но а или если хотя потому также однако в во на с со к по из за от для до о об при после перед"
        " через между его её их наш мой все всё каждый не нет да был была было были есть так затем потом"
        " поэтому кроме сегодня вчера теперь",
    },
    "pl": {
        "before": "dr prof mgr inż hab gen płk mjr kpt ks św ul pl np tzn tzw tj m.in wg zob woj lek",
        "number": "nr s str rys tab t tom rozdz art ust pkt poz ok ds sygn tel r w ww sty lut mar kwi maj cze lip sie wrz"
        " paź lis gru",
        "after": "itd itp etc zł gr tys mln mld godz min n.e p.n.e m.st sp.z.o.o jr cd cdn",
        "openers": "on ona ono oni one my wy ja ty to ten ta te ci tam tu kto co gdzie kiedy jak dlaczego czy i a ale"
        " lub jeśli jeżeli chociaż ponieważ gdy w we na z ze do od po przez dla bez pod nad przed za o przy"
        " między jego jej ich nasz mój wszystkie wszyscy każdy nie tak był była było byli jest są także"
        " również jednak potem następnie dziś wczoraj",
    },
    "sv": {
        "before": "hr fr dr prof ing t.ex d.v.s dvs bl.a s.k m.a.o fr.o.m t.o.m p.g.a jfr resp ang kl ca st f.d",
        "number": "nr s sid kap fig tab bd vol art jan febr feb mars apr juni juli aug sept sep okt nov dec tel",
        "after": "etc osv m.m m.fl o.s.v o.d f.kr e.kr kr milj",
        "openers": "den det de en ett han hon vi ni jag du detta denna dessa här där vem vad var när hur varför och"
        " men eller om fast eftersom medan i på av för från med till vid under över efter innan utan mellan"
        " hans hennes deras min vår alla många några varje inte också så då nu är har",
    },
    "da": {
        "before": "hr dr prof ing f.eks fx bl.a dvs d.v.s jf ca kl s.k pga p.g.a ifm mht vedr skt",
        "number": "nr s side kap fig tab bd vol art stk jan feb mar apr jun jul aug sep sept okt nov dec tlf",
        "after": "osv etc m.m m.v m.fl o.lign f.kr e.kr kr mio mia a/s",
        "openers": "den det de en et han hun vi jeg du dette denne disse her der hvem hvad hvor hvornår hvordan"
        " hvorfor og men eller hvis selvom fordi mens i på af for fra med til ved under over efter før uden"
        " mellem hans hendes deres min vores alle mange nogle hver ikke også så da nu er var har",
    },
    "cs": {
        "before": "pí dr prof ing mgr mudr judr phdr rndr sv tzv tzn tj např resp popř ul nám gen plk kpt viz srov",
        "number": "č čís str cca s kap obr tab sv roč odst písm led ún břez dub květ čvn čvc srp zář říj list pros tel",
        "after": "atd atp apod aj mj hod min kč tis mil mld n.l př.n.l s.r.o a.s spol doc",
        "openers": "on ona ono oni my vy já ty to ten ta ti tam tady kdo co kde kdy jak proč a ale nebo jestli když"
        " protože v ve na z ze do od po pro bez pod nad před za o při mezi jeho její jejich náš můj všechny"
        " každý ne není byl byla bylo je jsou také však potom dnes",
    },
    "sk": {
        "before": "dr prof ing mgr mudr judr phdr rndr bc sv tzv tzn tj t.j napr resp príp ul nám gen plk kpt pozn porov por"
        " vid p pán im zn ods",
        "number": "č čís str cca s kap obr tab roč písm zb z.z jan feb mar apr máj jún júl aug sept sep okt nov dec"
        " tel čl bod r",
        "after": "atď atp apod a.i i.i hod min tis mil mld n.l pr.n.l s.r.o a.s spol doc stor kol eur sk",
        "openers": "on ona ono oni ony my vy ja ty to ten tá tí tie tam tu kto čo kde kedy ako prečo a ale alebo ak keď"
        " pretože lebo v vo na z zo do od po pre bez pod nad pred za o pri medzi jeho jej ich náš môj všetky všetci"
        " každý nie nikto nič bol bola bolo boli je sú tiež však potom dnes",
    },
    "kk": {
        "before": "мыс т.ғ.к т.ғ.д проф акад доц көш обл ауд қ пр даңғ см сал т.а әл ал",
        "number": "б бет сур кест тел № ж үй пәт т кіт",
        "after": "т.б т.с.с ж жж ғ ғғ б.з б.з.б б.з.д млн млрд мың тг кг км мин сек шам",
        "openers": "ол олар бұл сол осы біз сіз мен сен бірақ және немесе егер сондықтан сонымен содан кейін бүгін кеше"
        " қазір мұнда онда қашан қайда кім не неге қалай барлық әр көп бір оның олардың біздің менің жоқ иә",
    },
}


@lru_cache(maxsize=32)
def load_words(lang: str) -> NDArray[np.uint64]:
    """Return the words of a language, or of all languages for "auto"; SettingsError names the known ones."""
    if lang != "auto" and lang not in LANGUAGES:
        raise SettingsError([f"{named('lang')} must be one of {', '.join(['auto', *LANGUAGES])}, not {lang!r}"])
    words: dict[str, int] = {}
    for name in LANGUAGES if lang == "auto" else [lang]:
        for category, bit in zip(CATEGORIES, BITS, strict=True):
            for word in LANGUAGES[name].get(category, "").split():
                # The splitter folds the case of ASCII letters only.
                for form in (word, word.capitalize(), word.upper()):
                    key = "".join(letter.lower() if letter.isascii() else letter for letter in form)
                    words[key] = words.get(key, 0) | bit
    return _make_table({word.encode(): categories for word, categories in words.items()})


def _make_table(words: dict[bytes, int]) -> NDArray[np.uint64]:
    """Return the table that `look_up` of `kernels/scan.py` reads: hashes in slots, with the categories as last byte."""
    table = [0] * _N_SLOTS
    for word, categories in words.items():
        h = int(SEED)
        for byte in word:
            h = ((h ^ byte) * FACTOR) & _ALL_BITS
            h ^= h >> 32
        slot = (h >> 8) % _N_SLOTS
        while table[slot] != 0:
            slot = (slot + 1) % _N_SLOTS
        table[slot] = h & ~255 | categories
    return np.array(table, dtype=np.uint64)
