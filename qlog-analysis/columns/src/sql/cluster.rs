//! Questions that a cluster of Apache Ballista answers.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;

use arrow::datatypes::{DataType, Schema, SchemaRef};
use ballista_core::extension::SessionStateExt;
use ballista_core::object_store::state_with_s3_support;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::execution::SessionState;
use datafusion::logical_expr::expr::NullTreatment;
use datafusion::logical_expr::{Expr, LogicalPlan, WindowFunctionDefinition};
use datafusion::prelude::SessionContext;
use object_store::ObjectStoreExt;
use windlass_qlog_analysis::escape::Printed;

use super::{Format, SqlError, answer, planned, register};
use crate::Table;
use crate::dataset::MARKER;

/// Asks a dataset a question as [`query`](super::query) does, on the executors of the cluster whose scheduler is at `scheduler`,
/// `HOST:PORT`. Returns how many rows the answer has.
///
/// `dataset` is a directory that all of them see under this path, or a URL, `s3://BUCKET/FOLDER`, whose credentials and endpoint are in
/// the variables `AWS_…` of the environment, here and where they run.
///
/// # Errors
/// As of [`query`](super::query), or the scheduler does not answer. A file that cannot be read is one.
pub fn query_on(
    scheduler: &str,
    dataset: &str,
    question: &str,
    format: Format,
    out: &mut dyn Write,
) -> Result<u64, SqlError> {
    TcpStream::connect(scheduler)
        .map_err(|source| SqlError::Unreachable { scheduler: scheduler.to_owned(), source })?;
    let root =
        if dataset.contains("://") { dataset.to_owned() } else { std::path::absolute(dataset)?.display().to_string() };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut printed = Printed::new(out);
    let rows = runtime.block_on(async {
        let state: SessionState = state_with_s3_support()?.upgrade_for_ballista(format!("http://{scheduler}"))?;
        let context = SessionContext::new_with_state(state);
        let marker = ListingTableUrl::parse(format!("{}/{MARKER}", root.trim_end_matches('/')))?;
        let store = context.runtime_env().object_store(&marker)?;
        store.head(marker.prefix()).await.map_err(|error| match error {
            object_store::Error::NotFound { .. } => SqlError::NoDataset(dataset.to_owned()),
            error => SqlError::Query(error.into()),
        })?;
        register(&context, &root, plain)?;
        let frame = planned(&context, question).await?;
        keeps_nulls(frame.logical_plan())?;
        answer(frame, format, &mut printed).await
    })?;
    printed.into_inner()?;
    Ok(rows)
}

/// The columns of a table with plain texts for dictionaries: an executor that gets rows of another one (`do_get` of ballista-executor 55)
/// gets plain texts, where its plan has dictionaries.
fn plain(table: Table) -> SchemaRef {
    let schema = table.schema();
    let fields = schema.fields().iter().map(|field| match field.data_type() {
        DataType::Dictionary(_, values) => field.as_ref().clone().with_data_type(values.as_ref().clone()),
        _ => field.as_ref().clone(),
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Executors get window functions without IGNORE NULLS (`serialize_physical_window_expr` of datafusion-proto 55), and would answer
/// another question; aggregates over windows keep it.
fn keeps_nulls(plan: &LogicalPlan) -> Result<(), SqlError> {
    let mut found = None;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expression| {
            expression.apply(|part| {
                if let Expr::WindowFunction(window) = part
                    && let WindowFunctionDefinition::WindowUDF(function) = &window.fun
                    && window.params.null_treatment == Some(NullTreatment::IgnoreNulls)
                {
                    found = Some(function.name().to_owned());
                    return Ok(TreeNodeRecursion::Stop);
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    found.map_or(Ok(()), |name| Err(SqlError::IgnoreNulls(name)))
}

#[cfg(test)]
mod tests {
    use super::super::EXAMPLES;
    use super::*;

    #[test]
    fn questions_that_executors_would_not_understand_are_refused() {
        let place = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let check = |question: &str| {
            runtime.block_on(async {
                let context = SessionContext::new();
                register(&context, &place.path().display().to_string(), plain)?;
                keeps_nulls(planned(&context, question).await?.logical_plan())
            })
        };
        for example in EXAMPLES {
            check(example.sql).unwrap();
        }
        let over = "OVER (PARTITION BY file ORDER BY seq)";
        check(&format!("SELECT last_value(cwnd) {over}, max(cwnd) {over} FROM recovery")).unwrap();
        let within = format!("SELECT 1 WHERE 2 IN (SELECT 1 + lag(cwnd) IGNORE NULLS {over} FROM recovery)");
        assert!(matches!(check(&within), Err(SqlError::IgnoreNulls(name)) if name == "lag"));
    }

    #[test]
    fn a_scheduler_that_is_not_there_is_named() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).unwrap();
        let asked = query_on(&free.to_string(), "nowhere", "SELECT 1", Format::Csv, &mut Vec::new());
        let error = asked.unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot reach the scheduler {free}: ")), "{error}");
    }
}
