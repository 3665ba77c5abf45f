"""What ends a sentence and what does not, phenomenon by phenomenon; ¶ marks where a sentence ends."""

# ruff: noqa: E501

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from ibidem.config import SentencesConfig
from ibidem.errors import SettingsError
from ibidem.sentences import split_sentences
from ibidem.sentences.splitter import split_texts

ONE_LINE = {
    "plain": "The rain stopped.¶ We went out.",
    "question and exclamation": "Are you there?¶ Yes!¶ Good.",
    "runs of stops": "Really?!¶ No way!!¶ Well.",
    "title before a name": "We met Dr. Weiss and Mrs. Lane at noon.¶ They left.",
    "initials": "The paper by Anna B. Keller and J. R. Holt was short.",
    "initials in the order of the alphabet": "J. K. Holt wrote it.",
    "stop after a blank": "They saw the river . ¶The boat was gone .",
    "section sign": "§ 12. Rent is due in May.",
    "pronoun I at the end": "Nobody knew but you and I.¶ Did they ask?",
    "company, goes on": "He sold it to Weiss & Co. in May.",
    "company, ends": "He sold it to Weiss & Co.¶ They paid well.",
    "country": "She moved to the U.S.¶ What happened then?",
    "country as an adjective": "He joined the U.S. Army in 1990.",
    "small a.m.": "At 7 a.m. Mr. Holt woke up.",
    "capital P.M.": "It ended at 9 P.M.¶ Mr. Holt went home.",
    "number after No.": "See No. 5 and p. 12 of Vol. II for more.",
    "no at the end": "He said no.¶ The others agreed.",
    "somebody after no": "They asked me.¶ No.¶ I said so two months ago.¶ I won't say it again.",
    "first volume": "See Vol. I, and Art. I, of the law.",
    "degree sign": "It is flat N°. 12 on the left.",
    "decimals and versions": "It costs 3.50 in version 2.1.7 of the list.¶ Fine.",
    "address of a page": "Look at www.example.org/a.html.¶ Then come back.",
    "e-mail": "Write to jo.lane@example.org.¶ He answers.",
    "no blank after": "He read Holt Jr.'s letter, e.g., twice.",
    "name with a mark": "She works for Oho! in sales.",
    "lower case after a question": "any idea?¶ they are closed",
    "lower case after an exclamation": "we loved it!¶ great service",
    "lower case after a long word": "nobody was interested.¶ jill had left",
    "lower case after a short word": "i saw a cat.¶ they ran.¶ it rained",
    "clipped words": "Das ist gesetzl. vorgeschrieben und gilt entspr. den Regeln.",
    "names cut short": "Isolates of Pseudomon. aeruginosa grow.",
    "lower case after brackets": "ask Lena (room 5).¶ you know her",
    "unknown abbreviation": "the voc. ed. teachers and the bldg. manager",
    "lower case after dots": "well... maybe later",
    "small i of other languages": "Vidi str. 5 i god. i mjesto.",
    "lower case after a quotation": 'the "Welcome!" to all',
    "question after a blank": "is he better ?¶ and she ?",
    "speech without quotes": "Quoi ? demanda-t-elle.",
    "blank missing": "It works.¶The rest does not.¶I asked.",
    "blank missing after a question": "do they speak?¶they will",
    "blank missing after dots": "It took an hour...¶Nobody came.",
    "names with periods": "Call System.Out and list.From(x) or page?the=1 now.",
    "smile": "We had fun :-)¶ Now we sleep :)¶ Good night.",
    "smile that goes on": "We had fun :) and left.",
    "face after a stop": "So good! :D¶ We go again. :-(¶ sad, but fun! ;P",
    "smile before a number": "We had fun :)¶ 4 of 5 stars",
    "lower case after a short word that is whole": "too loud.¶ will be back.¶ imo no.¶ the old one was good.¶ great value",
    "lower case after a short word that ends like one": "on the floor.¶ nobody slept. bread was scarce, also added.¶ yum",
    "lower case after a contraction": "he said he didn't.¶ nobody asked.¶ it was the team's.¶ big deal",
    "lower case after a vowel": "es una duda.¶ no entiendo.¶ ако не може.¶ nada",
    "lower case after a number": "call 555-0199.¶ they know.¶ it costs $400+.¶ good luck",
    "inverted marks": "tengo una duda.¶ ¿alguien sabe?¶ no...¶ ¡gracias!",
    "initials without case": "قال د. أحمد إن السعر مناسب.¶ سافر أ. علي.",
    "days of the week": "We are open Mon. - Fri. from nine.¶ Send it by Fri. 7 March.¶ It is late on Sun. 9 March.",
    "letter of an apostrophe": "They didn't.¶ Bob did.¶ It was the team's.¶ Anna left.",
    "detached reference marks": "The town is old. [1] [12]¶ It lies on a river.",
    "three detached dots": "It went on . . .¶ The end came.",
    "postscript": "P.S. I left.¶ PS. They stayed.",
    "words that abbreviate elsewhere": "It is OK.¶ He made up his mind.¶ What a gem.¶ See the doc.¶ It is 5 ft.¶ They left.",
    "mixed-case name opens": "It was cheap.¶ iPads were not.",
    "quotation goes on": 'He said, "It is late." and left.',
    "quotation ends": 'He said, "It is late."¶ She nodded.',
    "curly quotes": "“Go now.”¶ He went.",
    "stop in brackets": "They (it was late.) went home.",
    "bracketed dots": "He wrote [...] and slept (?) well.",
    "detached dots": "It was . . . Holt who ... Anna saw.",
    "four detached dots": "It went on and on . . . .¶ Then it stopped.",
    "dots after a stop": "They mixed words.¶ . . . The habit stayed.",
    "four attached dots": "I never said that....¶ She left.",
    "ellipsis character": "Well… maybe.¶ He waited…¶ Then he left.",
    "reference marks": "The town is old.[1][12]¶ It lies on a river.",
    "list with periods": "1. Cut the bread 2. Eat it 3. Sleep".replace(" 2", "¶ 2").replace(" 3", "¶ 3"),
    "list with brackets": "1) Cut the bread¶ 2) Eat it",
    "list with both": "1.) Cut the bread¶ 2.) Eat it",
    "list in round brackets": "(a) Cut the bread¶ (b) Eat it",
    "list of letters": "a. The bread is cut¶ b. The bread is eaten",
    "bullets": "• 3. Cut the bread¶ • 4. Eat it",
    "numbered heading": "2.1. The Method",
    "German ordinals": "Am 3. Oktober kam er im 2. Weltkrieg an.¶ Es war kalt.",
    "German abbreviations": "Das gilt z. B. für Hr. Kühn, d.h. Alle bzw. Manche.¶ Er lachte.",
    "German quotes": "Er rief: „Komm her!“¶ Dann ging er.",
    "French guillemets": "Il dit : « Viens ici. »¶ Puis il partit.",
    "French titles": "Mme. Petit et M. Blanc arrivent.¶ Ils sont là.",
    "Spanish": "¿Vienes hoy?¶ ¡Claro!¶ El Sr. Ruiz vive aquí.",
    "Italian": "Il sig. Neri abita qui.¶ È tardi.",
    "Russian": "Он родился в 1900 г. Иванов тоже.¶ Это т. е. хорошо.",
    "Polish": "Mieszka przy ul. Długiej nr 5.¶ Jest zimno.",
    "Greek": "Ήρθε χθες.¶ Έφυγε σήμερα.",
    "Greek question": "Ήρθε χθες;¶ Όχι· ήρθε σήμερα.¶ Πού πας;¶ πάω σπίτι.",
    "semicolon elsewhere": "He came; She left: Nobody knew.",
    "Slovak": "Býva napr. na ul. Hlavnej od 5. mája.¶ Je zima.",
    "Kazakh": "Ол 1991 ж. Алматы қ. келді.¶ Содан кейін кетті.",
    "Georgian": "გუშინ წვიმდა.¶ ჩვენ სახლში ვიყავით.",
    "Chinese": "今天下雨。¶我们没有出门！¶你呢？",
    "Chinese, ASCII marks": "你好!¶今天好吗?¶很好。",
    "Chinese stop after a quotation": "他问：“谁会来呢？”。¶没有人。",
    "Chinese title": "他看了《你好！世界》这本书。¶很好。",
    "Chinese semicolon": "他来了；她走了。",
    "Japanese quotation goes on": "「雨だ。」と彼は言った。¶「そうか。」¶「うん。」",
    "full-width decimal": "値は３．５です。¶次です。",
    "Korean": "오늘은 비가 왔다.¶ 우리는 집에 있었다.",
    "Hindi": "आज बारिश हुई।¶ हम घर पर रहे।¶वह आया॥",
    "Arabic": "هل جاء اليوم؟¶ نعم جاء.¶ وصل أمس.",
    "Arabic semicolon": "جاء اليوم؛¶ وصل أمس.",
    "Urdu": "وہ آیا۔¶ میں گیا۔",
    "Amharic": "ዝናብ ዘነበ።¶ ወደ ቤት ሄድን።",
    "Amharic without blanks": "ዝናብ ዘነበ።¶ወደ ቤት ሄድን፧¶አዎ።",
    "Armenian": "Անձրև եկավ։¶ Մենք տանն էինք։",
    "Armenian with a colon": "Անձրև եկավ:¶ Մենք տանն էինք:",
    "Burmese": "မိုးရွာသည်။¶ အိမ်မှာနေသည်။",
    "Khmer": "ថ្ងៃនេះភ្លៀង។¶ យើងនៅផ្ទះ។",
    "Thai": "วันนี้ฝนตกหนักมากเราจึงไม่ได้ออกจากบ้าน¶ พรุ่งนี้เราจะไปตลาดด้วยกันทั้งครอบครัว",
    "Thai, short pieces": "วันนี้ ฝนตก",
}

LINES = {
    "wrapped by hand": "The committee met on Tuesday in the old hall of\nParliament and talked about the weather for hours.¶\nThen they left.",
    "blank line": "A heading without a stop¶\n\nThe text below it.",
    "line of dashes is blank": "Above the line¶\n-----\nBelow the line",
    "quote marker alone is blank": "> They came early¶\n>\n> and left late",
    "quoted mail": "> They came early and went to the hall where the others\n> were. ¶Then they left again.",
    "reply below a quotation": "> They came early and left¶\nThat is not so",
    "nested quotes": "> > They came early.¶\n> > Then they left.",
    "list items": "Buy this:¶\n- milk and bread¶\n- tea¶\n* salt¶\n1. pepper¶\n2) oil¶\n(c) rice",
    "Markdown headings": "# One thing¶\nsome text here¶\n## Other thing",
    "short lines are verse": "The rain\nfell.¶\nThe sun¶\nCame out",
    "unwrapped lines": ("Word " * 40 + "end¶\n") * 2 + "Last",
    "form feed": "Page one ends¶\fPage two starts",
    "abbreviation at the line's end": "They all went out to see the famous house of old Mr.\nHolt on the hill that day, and it was a long walk.",
    "wrapped Chinese": "今天天气非常好所以我们决定去公园散步看看花草树木还有湖里的鱼\n然后我们回家吃饭睡觉第二天又去上班工作学习一直到晚上才回来。",
}


def expected(marked: str) -> list[str]:
    return [re.sub(r"^(?:[\s>]|-----)+", "", part).strip() for part in marked.split("¶")]


def sentences(text: str, lang: str = "auto") -> list[str]:
    return [text[start:end] for start, end in split_sentences(text, lang)]


@pytest.mark.parametrize("marked", ONE_LINE.values(), ids=ONE_LINE.keys())
def test_sentences_of_one_line(marked: str) -> None:
    assert sentences(marked.replace("¶", "")) == expected(marked)


@pytest.mark.parametrize("marked", LINES.values(), ids=LINES.keys())
def test_sentences_of_several_lines(marked: str) -> None:
    assert sentences(marked.replace("¶", "")) == expected(marked)


@pytest.mark.parametrize("text", ["", " \n\t", "-----", "* * *", "...", "?!", "\ufeff", "> \n> "])
def test_text_without_words_has_no_sentence(text: str) -> None:
    assert split_sentences(text) == []


@pytest.mark.parametrize("following", [" b is next.", "b is next.", "", "I. x", "。"])
@pytest.mark.parametrize("text", ["we can now see our cat. i", "see our cat", "it rained.", "so what?", "fun :-)"])
def test_a_document_is_split_the_same_whatever_comes_after_it(text: str, following: str) -> None:
    alone, together = (
        split_texts(pa.array(texts, pa.large_string()), SentencesConfig()) for texts in ([text], [text, following])
    )
    mine = [row for row in together.select(["document", "start_char", "end_char"]).to_pylist() if row["document"] == 0]
    assert mine == alone.select(["document", "start_char", "end_char"]).to_pylist()


def test_language_chooses_its_abbreviations() -> None:
    text = "Er wohnt ggf. Oben im Haus."
    assert len(sentences(text, "de")) == 1
    assert len(sentences(text, "en")) == 2


def test_unknown_language_names_the_known_ones() -> None:
    with pytest.raises(SettingsError, match="auto, en, de"):
        split_sentences("Text.", "tlh")
