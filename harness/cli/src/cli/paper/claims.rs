//! The documents' claims: every answer as CSV, what does not hold for a page, and each claim's trial with its mutant.

use std::path::Path;

use windlass_lab::output::replace;
use windlass_papers::documents::DOCUMENTS;
use windlass_papers::{Answer, Claim, Document, ResultCache, Scale, TrialRuns, run_trial, trial_packets};

use super::CliError;
use super::{is_single, markdown, origin, result};

/// The directory of trials below the one for results.
const TRIALS: &str = "trials";

/// A statement of a document, its answer and its trial.
#[derive(serde::Serialize)]
struct Row {
    document: &'static str,
    /// None for a statement that no run decides.
    id: &'static str,
    section: &'static str,
    experiment: &'static str,
    statement: &'static str,
    answer: &'static str,
    margin: String,
    comparison: String,
    trial: String,
    without: String,
    mutant: &'static str,
    with: String,
    caught: String,
    comparison_with: String,
}

/// All statements of the documents, as CSV.
pub(super) fn csv(out: &Path) -> Result<String, CliError> {
    let failed = |error: String| CliError::Failed(format!("cannot write CSV: {error}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows(out)? {
        writer.serialize(row).map_err(|error| failed(error.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|error| failed(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| failed(error.to_string()))
}

/// How many statements hold, and those that do not.
pub(super) fn summary(out: &Path) -> Result<String, CliError> {
    let rows = rows(out)?;
    let heads = ["document", "statements", "hold", "fail", "undetermined", "mutants caught"].map(str::to_owned);
    let count = |document: &Document| {
        let of = || rows.iter().filter(|row| row.document == document.name);
        let answers = |answer: &str| of().filter(|row| row.answer == answer).count().to_string();
        let caught = of().filter(|row| row.caught == "caught").count();
        let (holds, fails, open) = (answers("holds"), answers("fails"), answers("undetermined"));
        vec![document.name.to_owned(), of().count().to_string(), holds, fails, open, caught.to_string()]
    };
    let counts = markdown(&heads, &DOCUMENTS.iter().map(count).collect::<Vec<_>>());
    let heads = ["", "statement", "answer", "closest comparison"].map(str::to_owned);
    let left = rows.iter().filter(|row| row.answer != "holds").map(|row| {
        let id = if row.id.is_empty() { format!("{} {}", row.document, row.section) } else { row.id.to_owned() };
        vec![id, row.statement.to_owned(), row.answer.to_owned(), row.comparison.clone()]
    });
    Ok(format!("{counts}{}", left_aligned(&heads, &left.collect::<Vec<_>>())))
}

fn rows(out: &Path) -> Result<Vec<Row>, CliError> {
    let mut rows = Vec::new();
    for document in DOCUMENTS {
        for claim in document.claims {
            let (answer, margin, comparison) = answer(document, claim, out)?;
            let trial = Trial::of(document, claim, out)?;
            rows.push(Row {
                document: document.name,
                id: claim.id,
                section: claim.source,
                experiment: claim.experiment,
                statement: claim.text,
                answer,
                margin,
                comparison,
                trial: trial.runs,
                without: trial.without,
                mutant: claim.mutant.what,
                with: trial.with,
                caught: trial.caught,
                comparison_with: trial.evidence,
            });
        }
        for (section, statement, why) in document.undetermined {
            rows.push(Row {
                document: document.name,
                id: "",
                section,
                experiment: "",
                statement,
                answer: "undetermined",
                margin: String::new(),
                comparison: (*why).to_owned(),
                trial: String::new(),
                without: String::new(),
                mutant: "",
                with: String::new(),
                caught: String::new(),
                comparison_with: String::new(),
            });
        }
    }
    Ok(rows)
}

/// Answer, margin and closest comparison of a claim by its full runs; by its trial, undetermined, where there are none.
fn answer(document: &Document, claim: &Claim, out: &Path) -> Result<(&'static str, String, String), CliError> {
    let Some(result) = result(claim.experiment, out)?.filter(|result| result.scale == Scale::Full) else {
        let tried = trial(document, claim, out)?.map(|runs| runs.answers(claim).without);
        let with = change(claim);
        let says = |answer: Answer| format!("no full run; its trial{with}: {}", answered(&answer));
        return Ok(("undetermined", String::new(), tried.map_or_else(|| "no full run".to_owned(), says)));
    };
    let mut answer = claim.answer_in(&result);
    let mut evidence = answer.evidence.clone();
    if let Some((_, part)) = origin(&result).split_once("**a part of it**: ") {
        evidence.push_str(&format!(" ({part})"));
    }
    if is_single(&result) && answer.holds.is_some() {
        evidence.push_str(&format!("; by this one run it {}", verdict(answer.holds)));
        answer.holds = None;
    }
    if let Some(why) = claim.why.filter(|_| answer.holds != Some(true)) {
        evidence.push_str(&format!(": {why}"));
    }
    Ok((verdict(answer.holds), margin(&answer), evidence))
}

fn verdict(holds: Option<bool>) -> &'static str {
    match holds {
        Some(true) => "holds",
        Some(false) => "fails",
        None => "undetermined",
    }
}

fn margin(answer: &Answer) -> String {
    answer.margin.map_or_else(|| "–".to_owned(), |margin| format!("{:+.0} %", 100.0 * margin))
}

fn answered(answer: &Answer) -> String {
    format!("{}, {}", verdict(answer.holds), margin(answer))
}

fn left_aligned(heads: &[String], rows: &[Vec<String>]) -> String {
    markdown(heads, rows).replace("---:", "---")
}

/// The runs that a claim was tried on, below `out`; `None` if it was not tried as it is written.
fn trial(document: &Document, claim: &Claim, out: &Path) -> Result<Option<TrialRuns>, CliError> {
    let path = out.join(TRIALS).join(format!("{}.json", claim.id));
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(None) };
    let runs: TrialRuns = serde_json::from_str(&text)
        .map_err(|error| CliError::Failed(format!("{} is not a trial: {error}", path.display())))?;
    Ok(runs.are_of(document, claim).then_some(runs))
}

/// Claims with these ids or of these documents; all if there are none.
fn chosen(ids: &[&str]) -> Result<Vec<(&'static Document, &'static Claim)>, CliError> {
    let all = DOCUMENTS.iter().flat_map(|document| document.claims.iter().map(move |claim| (document, claim)));
    let all: Vec<_> = all.collect();
    let is = |id: &str, document: &Document, claim: &Claim| claim.id == id || document.name == id;
    if let Some(id) = ids.iter().find(|id| !all.iter().any(|(document, claim)| is(id, document, claim))) {
        return Err(CliError::Usage(format!("no claim and no document is called {id:?}")));
    }
    let wanted =
        |(document, claim): &(&Document, &Claim)| ids.is_empty() || ids.iter().any(|id| is(id, document, claim));
    Ok(all.into_iter().filter(wanted).collect())
}

/// What is changed in the trial of `claim`, behind a comma; empty where nothing is.
fn change(claim: &Claim) -> String {
    claim.trial.change.map_or_else(String::new, |change| format!(", with {}", change.what))
}

/// What the trial of a claim shows, in words; dashes where it was not made.
struct Trial {
    runs: String,
    without: String,
    with: String,
    caught: String,
    evidence: String,
}

impl Trial {
    fn of(document: &Document, claim: &Claim, out: &Path) -> Result<Self, CliError> {
        let packets = format!("{:.1} million packets", trial_packets(document, claim) / 1e6);
        let runs = format!("{}, {packets}{}", claim.experiment, change(claim));
        let dash = || "–".to_owned();
        let Some(tried) = trial(document, claim, out)?.map(|runs| runs.answers(claim)) else {
            let caught = format!("not tried: `windlass paper table \"mutants {}\"` does", claim.id);
            return Ok(Self { runs, without: dash(), with: dash(), caught, evidence: dash() });
        };
        let caught = match tried.without.holds {
            Some(true) if tried.with.holds.is_none() && tried.with.margin.is_none() => {
                "not caught: with it there is nothing to compare"
            }
            Some(true) if tried.is_caught() => "caught",
            Some(true) => "not caught",
            Some(false) => "not tried: the claim fails without it",
            None => "not tried: the trial does not decide the claim",
        };
        Ok(Self {
            runs,
            without: answered(&tried.without),
            with: answered(&tried.with),
            caught: caught.to_owned(),
            evidence: tried.with.evidence,
        })
    }
}

/// Runs the trials of claims and keeps them in `out`, each run as soon as it is over; the table of what they show.
pub(super) fn mutants(ids: &[&str], out: &Path) -> Result<String, CliError> {
    let dir = out.join(TRIALS);
    let cache = ResultCache::open(&dir)?;
    let heads = ["", "trial", "without", "mutant", "with", "caught", "closest comparison with it"].map(str::to_owned);
    let mut rows = Vec::new();
    for (document, claim) in chosen(ids)? {
        let runs = run_trial(document, claim, Some(&cache)).map_err(|error| CliError::Failed(error.to_string()))?;
        let json =
            serde_json::to_string(&runs).map_err(|error| CliError::Failed(format!("cannot write JSON: {error}")))?;
        replace(&dir.join(format!("{}.json", claim.id)), &(json + "\n"))?;
        let trial = Trial::of(document, claim, out)?;
        let mutant = claim.mutant.what.to_owned();
        rows.push(vec![
            claim.id.to_owned(),
            trial.runs,
            trial.without,
            mutant,
            trial.with,
            trial.caught,
            trial.evidence,
        ]);
    }
    Ok(left_aligned(&heads, &rows))
}
